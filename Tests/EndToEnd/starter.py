"""A program that starts a flow and stays its starter: what GetUrl and GetSecret tell is for it alone.

usage: starter.py APP STEPS

STEPS is a JSON list of steps, and the answer a JSON object with the flow's id, the last details, and what `call` gave:
  ["begin", "SignIn.SignInWithPhoneNumber", ["+15555550100"], {"region": "AT"}]
  ["at", "waiting-for-code"]
  ["call", "GetSecret", []]
"""

import json
import sys
import time

import dbus

sys.dont_write_bytecode = True
from values import plain  # noqa: E402

NAME = "org.linkd.Auth1"
ENDS = ("succeeded", "failed", "cancelled", "expired")


def wait(flow, stage):
    """The details of the flow once it stands there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        all = flow.GetAll(f"{NAME}.Flow", dbus_interface="org.freedesktop.DBus.Properties")
        if all["Stage"] == stage:
            return plain(all["Details"])
        if all["Stage"] in ENDS:
            break
        time.sleep(0.02)
    sys.exit(f"never at {stage}: {plain(all)}")


bus = dbus.SessionBus()
app = bus.get_object(NAME, "/org/linkd/Auth1/app/" + sys.argv[1], introspect=False)
flow, answer = None, {}
for step in json.loads(sys.argv[2]):
    if step[0] == "begin":
        interface, _, member = step[1].rpartition(".")
        method = app.get_dbus_method(member, f"{NAME}.{interface}")
        path = method(*step[2], dbus.Dictionary(step[3], signature="sv"))
        flow = bus.get_object(NAME, path, introspect=False)
        answer["flow"] = path.rpartition("/")[2]
    elif step[0] == "at":
        answer["details"] = wait(flow, step[1])
    else:
        result = flow.get_dbus_method(step[1], f"{NAME}.Flow")(*step[2], dbus.Dictionary({}, signature="sv"))
        answer[step[1]] = plain(list(result) if isinstance(result, tuple) else [result])
print(json.dumps(answer))
