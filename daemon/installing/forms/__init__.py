"""The kinds of files that hold hooks."""

from collections.abc import Mapping

from daemon.installing.entry import Form
from daemon.installing.forms.event_lists import EventLists
from daemon.installing.forms.named_object import NamedObject
from daemon.installing.forms.script import Script
from daemon.installing.forms.toml_tables import TomlTables
from daemon.installing.harness import FormName

FORMS: Mapping[FormName, Form] = {
    "groups": EventLists(is_grouped=True),
    "list": EventLists(is_grouped=False),
    "object": NamedObject(),
    "tables": TomlTables(),
    "script": Script(),
}
"""By the name a harness's data gives."""
