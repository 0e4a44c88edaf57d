"""Prints what a flow is on D-Bus as JSON: its properties, by a client that isn't ours.

usage: flow.py ID
"""

import json
import sys

import dbus


def plain(value):
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, dict):
        return {str(key): plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return int(value) if isinstance(value, int) else str(value)


flow = dbus.SessionBus().get_object("org.linkd.Auth1", "/org/linkd/Auth1/flow/" + sys.argv[1], introspect=False)
print(json.dumps(plain(flow.GetAll("org.linkd.Auth1.Flow", dbus_interface="org.freedesktop.DBus.Properties"))))
