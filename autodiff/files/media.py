"""Pictures and sounds as summaries hold them: PNG and WAV, written.

Source: the PNG specification (W3C), sections 5 and 9; the RIFF WAVE description, PCM.
"""
from __future__ import annotations

import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of so many channels: gray, gray and alpha, RGB, RGBA


def write_png(pixels: np.ndarray) -> bytes:
    """The PNG of an image. pixels: uint8[h, w, 1 to 4]."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with its filter, 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
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
