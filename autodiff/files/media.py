"""Pictures and sounds as summaries hold them: PNG, written and read, and WAV, written.

Source: the PNG specification (W3C), sections 5 and 9; the RIFF WAVE description, PCM.
"""
from __future__ import annotations

import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of so many channels: gray, gray and alpha, RGB, RGBA
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # samples of a pixel; 3 has numbers of colors in its palette


def write_png(pixels: np.ndarray) -> bytes:
    """The PNG of an image. pixels: uint8 or uint16[h, w, 1 to 4]."""
    height, width, channels = pixels.shape
    size = pixels.itemsize
    data = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">")).view(np.uint8).reshape(height, -1)
    left, above = data.copy(), data.copy()  # each byte less that of the pixel on its left, or in the row above
    left[:, channels * size:] -= data[:, :-channels * size]
    above[1:] -= data[:-1]
    is_above = np.abs(above.view(np.int8)).sum(1, np.int64) < np.abs(left.view(np.int8)).sum(1, np.int64)
    rows = np.column_stack([np.where(is_above, 2, 1).astype(np.uint8), np.where(is_above[:, None], above, left)])
    header = struct.pack(">IIBBBBB", width, height, 8 * size, _COLOR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_wav(sound: np.ndarray, rate: int) -> bytes:
    """The WAV of a sound, 16 bits a sample. sound: float[frames, channels], -1 to 1; rate: frames a second."""
    channels = sound.shape[1]
    data = np.clip(np.round(sound * 32767), -32768, 32767).astype("<i2").tobytes()
    head = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2 & 0xffffffff, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def read_png(data: bytes) -> np.ndarray:
    """The pixels of a PNG: uint8[h, w, 1 to 4], uint16 if it has 16 bits. Raises ValueError for what is none."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("Invalid PNG data: it does not begin with PNG's signature")
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at + 8 <= len(data) and b"IEND" not in chunks:
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + length]
        at += 12 + length
    try:
        width, height, bits, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
        if bits not in (1, 2, 4, 8, 16):
            raise ValueError(f"Invalid PNG data: expected 1, 2, 4, 8 or 16 bits, found {bits}")
        samples = _CHANNELS[color]
        row = (width * samples * bits + 7) // 8
        opened = zlib.decompressobj()
        lines = opened.decompress(chunks[b"IDAT"], height * (row + 1) + 1)
    except (KeyError, struct.error, zlib.error) as error:
        raise ValueError(f"Invalid PNG data: {error}") from None
    if interlaced:
        raise ValueError("Invalid PNG data: interlaced PNG is not served, expected one that is not")
    if len(lines) != height * (row + 1) or not (height and width):
        raise ValueError(f"Invalid PNG data, size {len(data)}: expected {height * (row + 1)} bytes of {height} rows, "
                         f"found {len(lines)}")
    rows = _unfiltered(np.frombuffer(lines, np.uint8).reshape(height, row + 1), max(samples * bits // 8, 1))
    if bits == 16:
        return rows.view(">u2").astype(np.uint16).reshape(height, width, samples)
    if bits < 8:
        rows = np.packbits(np.unpackbits(rows, 1).reshape(height, -1, bits), 2)[:, :width * samples, 0] >> (8 - bits)
    if color != 3:
        return (rows * (255 // (2**bits - 1)) if bits < 8 else rows).astype(np.uint8).reshape(height, width, samples)
    palette = np.frombuffer(chunks.get(b"PLTE", b""), np.uint8).reshape(-1, 3)
    if rows.max() >= len(palette):
        raise ValueError(f"Invalid PNG data: color {rows.max()} is not among the {len(palette)} of its palette")
    alpha = np.frombuffer(chunks.get(b"tRNS", b""), np.uint8)[:len(palette)]
    if len(alpha):
        palette = np.column_stack([palette, np.pad(alpha, (0, len(palette) - len(alpha)), constant_values=255)])
    return palette[rows]


def _unfiltered(lines: np.ndarray, step: int) -> np.ndarray:
    """Rows of bytes without their filters. step: how far left a byte's neighbor is. Source: section 9 of PNG."""
    rows = np.zeros((len(lines), lines.shape[1] - 1), np.uint8)
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    for row, (kind, line) in zip(rows, ((line[0], line[1:]) for line in lines)):
        if kind in (0, 2):
            row[:] = line + above if kind else line
        elif kind == 1:
            for channel in range(step):
                row[channel::step] = np.cumsum(line[channel::step], dtype=np.uint8)
        elif kind in (3, 4):
            _predicted(row, line.tolist(), above.tolist(), step, of_paeth=kind == 4)
        else:
            raise ValueError(f"Invalid PNG data: expected a filter of 0 to 4, found {kind}")
        above = row
    return rows


def _predicted(row: np.ndarray, line: list[int], above: list[int], step: int, *, of_paeth: bool) -> None:
    done = [0] * step + line
    corner = [0] * step + above
    for i, (value, up, diagonal) in enumerate(zip(line, above, corner)):
        left = done[i]
        if of_paeth:
            to_left, to_up, to_corner = abs(up - diagonal), abs(left - diagonal), abs(left + up - 2 * diagonal)
            guess = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else diagonal
        else:
            guess = (left + up) // 2
        done[i + step] = value + guess & 255
    row[:] = done[step:]
