"""Signs in, adds a second factor and deletes the account, over D-Bus: how a Python program does it, by dbus-next.

usage: second_factors.py [--app ID] [--ask PROGRAM] COMMAND
  sign-in phone NUMBER | password ADDRESS | link ADDRESS | provider ID
  enroll-totp NAME      adds an authenticator app
  delete                deletes the account of who is signed in

What a person has to do is asked at the terminal, or PROGRAM is run for it, with the question's words as its arguments: it
prints the answer. Each flow's end is printed as a line of JSON.
"""

import argparse
import asyncio
import json
import subprocess
import sys

from dbus_next import Variant
from dbus_next.aio import MessageBus

SERVICE = "org.linkd.Auth1"
ENDS = ("succeeded", "failed", "cancelled", "expired")


def plain(value):
    """A value without the variants around its members."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return [plain(member) for member in value] if isinstance(value, list) else value


class Client:
    def __init__(self, bus, arguments):
        self.bus, self.ask_program = bus, arguments.ask
        self.app = "/org/linkd/Auth1/app/" + arguments.app

    async def interface(self, path, name):
        node = await self.bus.introspect(SERVICE, path)
        return self.bus.get_proxy_object(SERVICE, path, node).get_interface(name)

    async def ask(self, *question):
        """What a person types or does; empty where there's nothing to type."""
        if not self.ask_program:
            return (await asyncio.to_thread(input, " ".join(question) + ": ")).strip()
        command = [self.ask_program, *question]
        done = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    async def follow(self, path):
        """Does what the flow waits for until it has ended: its last stage and details."""
        flow = await self.interface(path, SERVICE + ".Flow")
        properties = await self.interface(path, "org.freedesktop.DBus.Properties")
        changed = asyncio.Event()
        flow.on_stage_changed(lambda stage, details, sequence: changed.set())
        stage, answered = "", 0
        while stage not in ENDS:
            changed.clear()
            # The signal says that something has changed, and no more than everybody may know: the rest is read.
            now = plain(await properties.call_get_all(SERVICE + ".Flow"))
            stage, details = now["Stage"], now["Details"]
            print("stage:", stage, details.get("error", ""), file=sys.stderr)
            if stage not in ENDS and now["Sequence"] > answered:
                answered = now["Sequence"]
                await self.answer(flow, stage, details)
            if stage not in ENDS:
                await changed.wait()
        print(json.dumps({"method": now["Method"], "purpose": now["Purpose"], "stage": stage, "details": details}))
        return stage, details

    async def answer(self, flow, stage, details):
        if stage == "waiting-for-password":
            await flow.call_provide_password(await self.ask("password", details["email"]), {})
        elif stage == "waiting-for-link":
            await self.ask("link", details["email"])
        elif stage in ("waiting-for-redirect", "waiting-for-captcha"):
            await self.ask("page", await flow.call_get_url({}))
        elif stage == "waiting-for-code":
            await flow.call_provide_code(await self.code(flow, details), {})
        elif stage == "second-factor-required":
            hints = details["hints"]
            choice = hints[0]["uid"] if len(hints) == 1 else await self.ask("factor", *[hint["uid"] for hint in hints])
            await flow.call_choose_factor(choice, {})
        elif stage == "reauthentication-required":
            # The parked flow goes on by itself once this one has succeeded.
            print(details["reauthentication"]["display-message"], file=sys.stderr)
            account = await self.interface(self.app, SERVICE + ".Account")
            stage, _ = await self.follow(await account.call_reauthenticate({"open-browser": Variant("b", False)}))
            if stage != "succeeded":
                await flow.call_cancel({})

    async def code(self, flow, details):
        if details["kind"] == "phone":
            return await self.ask("code", details.get("phone-number", ""), details.get("display-name", ""))
        if "display-name" in details:
            return await self.ask("app-code", details["display-name"])
        # The secret is for the app that makes the codes, mostly as a QR code of the address.
        secret, address, _ = await flow.call_get_secret({})
        return await self.ask("new-app", secret, address)

    async def sign_in(self, method, who):
        sign_in = await self.interface(self.app, SERVICE + ".SignIn")
        if method == "phone":
            return await sign_in.call_sign_in_with_phone_number(who, {"open-browser": Variant("b", False)})
        if method == "password":
            return await sign_in.call_sign_in_with_password(who, await self.ask("password", who), {})
        if method == "link":
            return await sign_in.call_send_sign_in_link(who, {})
        return await sign_in.call_sign_in_with_provider(who, {"open-browser": Variant("b", False)})


async def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--app", default="demo")
    parser.add_argument("--ask")
    commands = parser.add_subparsers(dest="command", required=True)
    sign_in = commands.add_parser("sign-in")
    sign_in.add_argument("method", choices=("phone", "password", "link", "provider"))
    sign_in.add_argument("who")
    commands.add_parser("enroll-totp").add_argument("name")
    commands.add_parser("delete")
    arguments = parser.parse_args()
    client = Client(await MessageBus().connect(), arguments)
    if arguments.command == "sign-in":
        path = await client.sign_in(arguments.method, arguments.who)
    else:
        account = await client.interface(client.app, SERVICE + ".Account")
        if arguments.command == "delete":
            path = await account.call_delete_user({})
        else:
            path = await account.call_enroll_totp_factor(arguments.name, {})
    stage, _ = await client.follow(path)
    return 0 if stage == "succeeded" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
