"""The teacher's page of Learn and the student's sheet."""

from __future__ import annotations

import re
from html import unescape

import pytest
from helpers.app import PAGES  # noqa: F401
