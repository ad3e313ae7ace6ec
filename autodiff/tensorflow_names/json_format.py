"""google.protobuf's json_format, for scripts where protocol buffers' own package is not installed."""
from __future__ import annotations

import json
from typing import Any

from ..core.errors import DataLossError
from ..files.protobuf_text import message_of_json, message_to_json

ParseError = Error = DataLossError


def MessageToJson(message: Any, including_default_value_fields: bool = False,  # noqa: N802
                  preserving_proto_field_name: bool = False, indent: int = 2, **without_effect: Any) -> str:
    """The JSON of a message."""
    return message_to_json(message, keep_names=preserving_proto_field_name, indent=indent)


def MessageToDict(message: Any, including_default_value_fields: bool = False,  # noqa: N802
                  preserving_proto_field_name: bool = False, **without_effect: Any) -> dict[str, Any]:
    """What JSON of a message says, as Python values."""
    return json.loads(message_to_json(message, keep_names=preserving_proto_field_name))


def Parse(text: str | bytes, message: Any, **without_effect: Any) -> Any:  # noqa: N802
    """Add what a JSON text says to a message, and give it. Raises ParseError."""
    return message_of_json(text, message)


def ParseDict(js_dict: dict[str, Any], message: Any, **without_effect: Any) -> Any:  # noqa: N802
    """As Parse, of Python values."""
    return message_of_json(json.dumps(js_dict), message)
