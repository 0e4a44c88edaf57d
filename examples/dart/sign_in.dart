// Signs you in through linkd by a mailed link, and says who you are.
//
// Needs package:dbus (`dart pub add dbus`). Run:  dart run sign_in.dart APP EMAIL [--show-token]
// APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.
//
// linkd's own tests don't run this one: they would need a Dart SDK.

import 'dart:io';

import 'package:dbus/dbus.dart';

const linkd = 'org.linkd.Auth1';
final options = DBusDict.stringVariant({});

Future<void> main(List<String> words) async {
  final names = words.where((word) => word != '--show-token').toList();
  if (names.length != 2) {
    stderr.writeln('usage: dart run sign_in.dart APP EMAIL [--show-token]');
    exit(64);
  }
  final bus = DBusClient.session();
  try {
    final manager = DBusRemoteObject(bus, name: linkd, path: DBusObjectPath('/org/linkd/Auth1'));
    final found = await manager.callMethod('$linkd.Manager', 'GetApp', [DBusString(names[0]), options],
        replySignature: DBusSignature('o'));
    final app = DBusRemoteObject(bus, name: linkd, path: found.returnValues[0].asObjectPath());
    final stage = await signIn(bus, app, names[1]);
    if (stage != 'succeeded') {
      stderr.writeln('It ended without a sign-in: $stage.');
      exitCode = stage == 'cancelled' ? 130 : 1;
    } else {
      await report(app, words.contains('--show-token'));
    }
  } on DBusMethodResponseException catch (error) {
    // The name is the contract (org.linkd.Auth1.Error.…), the message is for people.
    stderr.writeln('${error.response.values.map((value) => value.toNative()).join(' ')} (${error.errorName})');
    exitCode = 1;
  } finally {
    await bus.close();
  }
}

/// Three lines to sign your user in. Gives the last stage of the flow; Ctrl-C cancels it.
Future<String> signIn(DBusClient bus, DBusRemoteObject app, String email) async {
  final started = await app.callMethod('$linkd.SignIn', 'SendSignInLink', [DBusString(email), options],
      replySignature: DBusSignature('o'));
  stdout.writeln('A link was sent to $email. Open it on this machine.');
  return end(DBusRemoteObject(bus, name: linkd, path: started.returnValues[0].asObjectPath()));
}

Future<String> end(DBusRemoteObject flow) async {
  final interrupts = ProcessSignal.sigint.watch().listen((_) => flow.callMethod('$linkd.Flow', 'Cancel', [options]));
  // The signal says that something is new; the property says what. So nothing is missed.
  final changes = DBusRemoteObjectSignalStream(object: flow, interface: '$linkd.Flow', name: 'StageChanged');
  try {
    Future<String> stage() async => (await flow.getProperty('$linkd.Flow', 'Stage')).asString();
    const ends = {'succeeded', 'failed', 'cancelled', 'expired'};
    // The subscription stands before the first look.
    final later = changes.asyncMap((_) => stage()).firstWhere(ends.contains);
    final now = await stage();
    return ends.contains(now) ? now : await later;
  } finally {
    await interrupts.cancel();
  }
}

Future<void> report(DBusRemoteObject app, bool showToken) async {
  final session = await app.getAllProperties('$linkd.Session');
  final user = session['User']!.asStringVariantDict();
  stdout.writeln('state: ${session['State']!.asString()}');
  stdout.writeln('user: ${(user['email'] ?? user['uid'])!.asString()}');
  // A token is fetched when it is needed, never stored: linkd keeps it fresh.
  final reply = await app.callMethod('$linkd.Session', 'GetIdToken', [options], replySignature: DBusSignature('sxa{sv}'));
  final expires = DateTime.fromMillisecondsSinceEpoch(reply.returnValues[1].asInt64() * 1000, isUtc: true);
  stdout.writeln('token until: ${expires.toIso8601String()}');
  if (showToken) stdout.writeln(reply.returnValues[0].asString());
}
