/// Pages without anything from elsewhere, and without scripts.
enum HTML {
  /// The page as a whole.
  /// - Parameter content: HTML; what comes from outside has been escaped.
  static func page(_ title: String, _ content: String, status: Int = 200) -> Reply {
    var reply = Reply.html(
      """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escape(title))</title>
      <style>\(style)</style>
      <main>
      <h1>\(escape(title))</h1>
      \(content)
      </main>
      </html>

      """, status: status)
    // No form-action: a form's answer may redirect to an app.
    reply.headers.append(("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"))
    reply.headers.append(("Cache-Control", "no-store"))
    reply.headers.append(("Referrer-Policy", "no-referrer"))
    return reply
  }

  /// Text, as element content or as a quoted attribute.
  static func escape(_ text: String) -> String {
    let entities: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
    return text.reduce(into: "") { $0 += entities[$1] ?? String($1) }
  }

  /// The form that adds an account.
  /// - Parameter action: where it's sent.
  static func accountForm(action: String) -> String {
    """
    <h2>Another account</h2>
    <form id="add" method="post" action="\(escape(action))">
    <label>Subject <input id="sub" name="sub" required value="\(RandomText.digits(12))"></label>
    <label>E-mail <input id="email" name="email" type="email" autocomplete="off"></label>
    <label>Name <input id="name" name="name" autocomplete="off"></label>
    <label class="check"><input id="verified" name="emailVerified" type="checkbox" value="true" checked>
    the provider vouches for the address</label>
    <button id="add-account" type="submit">Add and use</button>
    </form>
    """
  }

  /// What a person sees of an account.
  static func account(_ account: ProviderAccount) -> String {
    let title = account.displayName ?? account.email ?? account.subject
    let unverified = account.email == nil || account.isEmailVerified ? nil : "unverified"
    let details = [account.email, unverified, account.subject].compactMap(\.self).filter { $0 != title }
    return "<b>\(escape(title))</b> <small>\(escape(details.joined(separator: " · ")))</small>"
  }

  private static let style = """
    :root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem}
    main{max-width:28rem;margin:0 auto}h1{font-size:1.4rem;line-height:1.3}h2{font-size:1.05rem;margin-top:2rem}
    small{display:block;opacity:.75;overflow-wrap:anywhere}label{display:block;margin:.6rem 0}
    label.check{display:flex;gap:.5rem;align-items:baseline}
    input:not([type=checkbox]){box-sizing:border-box;width:100%;font:inherit;padding:.45rem;margin-top:.15rem}
    .choice,button{display:block;box-sizing:border-box;width:100%;font:inherit;text-align:left;text-decoration:none;
    color:inherit;background:none;border:1px solid;border-radius:.5rem;padding:.6rem .9rem;margin:.6rem 0;cursor:pointer}
    #continue,#add-account{background:#1a56db;border-color:#1a56db;color:#fff;text-align:center}
    #cancel{border-color:transparent;text-align:center}.choice:hover,button:hover{outline:2px solid #1a56db}
    """
}
