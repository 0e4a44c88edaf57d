#!/usr/bin/env python3
"""Signs you in through linkd by a mailed link, a provider in the browser, or a phone number, and says who you are.

Needs python3-gi. Run:  python3 sign_in.py APP EMAIL|PROVIDER|NUMBER [--show-token]
PROVIDER is google.com, for example; NUMBER begins with +. What an account with second factors asks for is asked for here.
APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.
"""

import datetime
import signal
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

LINKD = "org.linkd.Auth1"


def proxy(path, interface):
    return Gio.DBusProxy.new_for_bus_sync(
        Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None, LINKD, path, f"{LINKD}.{interface}", None)


def said(error):
    """The name is the contract (org.linkd.Auth1.Error.…), the message is for people."""
    name = Gio.DBusError.get_remote_error(error)
    message = error.message.removeprefix(f"GDBus.Error:{name}: ")
    return f"{message} ({name or error.domain})"


def sign_in(app, email):
    """Three lines to sign your user in. Gives None, or what went wrong."""
    flow = proxy(app, "SignIn").SendSignInLink("(sa{sv})", email, {})
    return wait(proxy(flow, "Flow"), f"A link was sent to {email}. Open it on this machine.")


def sign_in_with_provider(app, provider):
    """The same three lines for a provider: linkd opens the browser."""
    flow = proxy(app, "SignIn").SignInWithProvider("(sa{sv})", provider, {})
    return wait(proxy(flow, "Flow"), "Go on in the browser.")


def sign_in_by_phone(app, number):
    """The same three lines for a number: wait() asks for the code of the message."""
    flow = proxy(app, "SignIn").SignInWithPhoneNumber("(sa{sv})", number, {})
    return wait(proxy(flow, "Flow"), f"A message is on its way to {number}.")


class Questions:
    """Asks a line of the person while the main loop goes on."""

    def __init__(self, give_up):
        self.asked, self.answer, self.give_up = None, None, give_up
        self.input = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)

    def ask(self, key, text, answer):
        """Once for each `key`; a newer question replaces an older one."""
        if key == self.asked:
            return
        if self.asked is None:
            GLib.io_add_watch(self.input.fileno(), GLib.IO_IN | GLib.IO_HUP, self.read)
        self.asked, self.answer = key, answer
        print(text, flush=True)

    def read(self, *_):
        line = self.input.readline()
        if not line:
            self.give_up()
            return GLib.SOURCE_REMOVE
        try:
            self.answer(line.decode(errors="replace").strip())
        except (IndexError, ValueError):
            print("A number of the list, please.", file=sys.stderr, flush=True)
        except GLib.Error as error:
            print(said(error), "Again, please.", file=sys.stderr, flush=True)
        return GLib.SOURCE_CONTINUE


def ask_for_code(flow, questions, sequence, details):
    where = f"sent to {details['phone-number']}" if details["kind"] == "phone" else "of your authenticator app"
    questions.ask(sequence, f"The code {where}, {details['attempts-left']} attempts:",
                  lambda code: flow.ProvideCode("(sa{sv})", code, {}))


def ask_for_factor(flow, questions, sequence, details):
    hints = details["hints"]
    names = [hint.get("display-name") or hint.get("phone-number") or "authenticator app" for hint in hints]
    questions.ask(sequence, "\n".join(f"{n}: {name}" for n, name in enumerate(names, 1)) + "\nWhich one?",
                  lambda line: flow.ChooseFactor("(sa{sv})", hints[max(int(line), 1) - 1]["uid"], {}))


def wait(flow, hint):
    """Says what to do, runs the main loop until the flow has ended, and cancels it on Ctrl-C."""
    loop, result = GLib.MainLoop(), []

    def look(*_):
        properties = proxy(flow.get_object_path(), "Flow")
        stage = properties.get_cached_property("Stage").unpack()
        details = properties.get_cached_property("Details").unpack()
        if stage == "failed":
            result.append(details.get("message", "It failed."))
        elif stage == "cancelled":
            result.append("Cancelled.")
        elif stage == "expired":
            result.append("It took too long.")
        elif stage == "succeeded":
            result.append(None)
        elif stage == "conflict" and details["conflict"]["kind"] != "anonymous-upgrade":
            result.append(details["conflict"]["message"])  # an app lets people choose: flow.ResolveConflict
            flow.Cancel("(a{sv})", {})
        elif "error" in details:
            print(details["message"], file=sys.stderr)  # temporary: the flow goes on waiting
        if stage in ("waiting-for-code", "second-factor-required"):
            ask = ask_for_code if stage == "waiting-for-code" else ask_for_factor
            ask(flow, questions, properties.get_cached_property("Sequence").unpack(), details)
        if result:
            loop.quit()

    def give_up():
        flow.Cancel("(a{sv})", {})
        return GLib.SOURCE_REMOVE

    questions = Questions(give_up)
    # The signal says that something is new; the properties say what. So nothing is missed.
    flow.connect("g-signal", look)
    flow.connect("notify::g-name-owner", lambda *_: flow.get_name_owner() and look())
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, give_up)
    print(hint, flush=True)
    look()
    if not result:
        loop.run()
    return result[0]


def report(app, show_token):
    session = proxy(app, "Session")
    user = session.get_cached_property("User").unpack()
    print("state:", session.get_cached_property("State").unpack())
    print("user:", user.get("email") or user.get("phone-number") or user.get("uid"))
    # A token is fetched when it is needed, never stored: linkd keeps it fresh.
    token, expires_at, _claims = session.GetIdToken("(a{sv})", {})
    print("token until:", datetime.datetime.fromtimestamp(expires_at, datetime.timezone.utc).isoformat())
    if show_token:
        print(token)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--show-token"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    try:
        app = proxy("/org/linkd/Auth1", "Manager").GetApp("(sa{sv})", arguments[0], {})
        start = sign_in_by_phone if arguments[1].startswith("+") else sign_in
        if "." in arguments[1] and "@" not in arguments[1]:
            start = sign_in_with_provider
        problem = start(app, arguments[1])
        if problem:
            print(problem, file=sys.stderr)
            return 130 if problem == "Cancelled." else 1
        report(app, "--show-token" in sys.argv)
        return 0
    except GLib.Error as error:
        print(said(error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
