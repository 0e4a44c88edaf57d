extension ResultPage {
  /// The page's style, as small as it can be. The colours are the continue page's.
  static let style = """

    :root { --page: #f3f4f6; --card: #fff; --ink: #1b1f24; --line: #d0d7de; --accent: #0b57d0; --on-accent: #fff; }
    @media (prefers-color-scheme: dark) {
      :root { --page: #121418; --card: #1c1f24; --ink: #e6e8eb; --line: #3a4049; --accent: #a8c7fa; --on-accent: #062e6f; }
    }
    * { box-sizing: border-box; }
    body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--page);
      color: var(--ink); font: 1rem/1.5 system-ui, "Cantarell", "Noto Sans", "DejaVu Sans", sans-serif; }
    main { width: 100%; max-width: 32rem; padding: 2rem; border: 1px solid var(--line); border-radius: 1rem;
      background: var(--card); overflow-wrap: anywhere; }
    h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
    p { margin: .75rem 0 0; }
    button { display: block; width: 100%; margin-top: 1.25rem; padding: .75rem 1.25rem; border: 0; border-radius: .5rem;
      background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
    button:hover { filter: brightness(1.08); }
    button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    @media (max-width: 30rem) {
      body { padding: 0; place-items: stretch; background: var(--card); }
      main { padding: 1.5rem; border: 0; border-radius: 0; }
    }

    """

  /// The one style that the page's policy lets apply (CSP 3, 2.3.1): SHA-256 of ``style``, Base64.
  static let styleHash = "sha256-FM/jwtGub/RJtypdNUnqUtPLRo14a0k9ejvrvmndEzU="
}
