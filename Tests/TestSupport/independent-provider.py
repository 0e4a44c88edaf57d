"""An OpenID provider that isn't ours: Django OAuth Toolkit and oauthlib, as Debian packages them (python3-django-oauth-toolkit).

Reads its settings from standard input, as one JSON object:
  folder   a scratch folder for the database and the log of requests
  client   {"id", "secret" (none: a public client), "redirects": [..]}; a loopback redirect may come back on any port
  users    [{"name", "password", "email", "verified"}]; the name is what they sign in with, the subject is a number
Prints its issuer and runs until its standard input ends, or a line comes: `rotate` signs with a new key from then on, and
answers `rotated`. The log of requests has a line each: method, path, names of the query's parameters.
"""

import json
import os
import socketserver
import subprocess
import sys
import threading
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

given = json.loads(sys.stdin.readline())


def new_key():
    made = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True)
    return made.stdout


class Server(socketserver.ThreadingMixIn, WSGIServer):
    """A browser keeps connections open that it doesn't use."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


server = make_server("127.0.0.1", 0, None, Server, Quiet)
origin = f"http://127.0.0.1:{server.server_port}"
issuer = f"{origin}/o"

import django
from django.conf import settings

settings.configure(
    SECRET_KEY=os.urandom(32).hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "context_processors": ["django.template.context_processors.request"],
            "loaders": [
                ("django.template.loaders.locmem.Loader", {
                    "registration/login.html":
                        "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Sign in</title>"
                        "<form method=post>{% csrf_token %}{{ form.as_p }}<button id=sign-in>Sign in</button></form>"}),
                "django.template.loaders.app_directories.Loader",
            ],
        },
    }],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{given['folder']}/provider.sqlite3"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    # Tables as the models are, without the history of how they came to be so.
    MIGRATION_MODULES={app: None for app in ["auth", "contenttypes", "sessions", "oauth2_provider"]},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    LOGIN_URL="/login",
    STATIC_URL="/static/",
    USE_TZ=True,
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": issuer,
        "OIDC_RSA_PRIVATE_KEY": new_key(),
        "OIDC_RESPONSE_TYPES_SUPPORTED": ["code"],
        "PKCE_REQUIRED": True,
        "SCOPES": {"openid": "OpenID", "email": "Your address", "profile": "Your name"},
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", *{uri.split(":")[0] for uri in given["client"]["redirects"]}],
        "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator",
    },
)
django.setup()

from django.contrib.auth import get_user_model, views as accounts
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import include, path
from oauth2_provider import urls, views
from oauth2_provider.models import get_application_model
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings


class Validator(OAuth2Validator):
    """With the claims of the scopes `email` and `profile`, which the toolkit leaves to its user."""

    oidc_claim_scope = {"sub": "openid", "email": "email", "email_verified": "email", "name": "profile"}

    def get_additional_claims(self):
        return {
            "email": lambda request: request.user.email,
            # A user's only field that is free to say so.
            "email_verified": lambda request: request.user.is_staff,
            "name": lambda request: request.user.first_name or request.user.username,
        }


urlpatterns = [
    path("login", accounts.LoginView.as_view()),
    # As OpenID Connect Discovery writes it, without the slash that this version wants at the end.
    path("o/.well-known/openid-configuration", views.ConnectDiscoveryInfoView.as_view()),
    path("o/", include((urls.base_urlpatterns + urls.oidc_urlpatterns, "oauth2_provider"), "oauth2_provider")),
]


def prepare():
    call_command("migrate", run_syncdb=True, verbosity=0)
    for user in given["users"]:
        get_user_model().objects.create_user(
            user["name"], user["email"], user["password"], is_staff=user.get("verified", True))
    client, application = given["client"], get_application_model()
    secret = client.get("secret")
    application.objects.create(
        name="Demo",
        client_id=client["id"],
        client_secret=secret or "",
        client_type=application.CLIENT_CONFIDENTIAL if secret else application.CLIENT_PUBLIC,
        authorization_grant_type=application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=" ".join(client["redirects"]),
        algorithm=application.RS256_ALGORITHM,
    )


def logged(answer):
    def application(environ, start):
        names = " ".join(sorted(parse_qs(environ["QUERY_STRING"], keep_blank_values=True)))
        with open(f"{given['folder']}/requests", "a") as log:
            log.write(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {names}\n")
        return answer(environ, start)

    return application


prepare()
server.set_app(logged(get_wsgi_application()))
threading.Thread(target=server.serve_forever, daemon=True).start()
print(issuer, flush=True)
for line in sys.stdin:
    if line.strip() == "rotate":
        oauth2_settings.OIDC_RSA_PRIVATE_KEYS_INACTIVE = [
            oauth2_settings.OIDC_RSA_PRIVATE_KEY, *oauth2_settings.OIDC_RSA_PRIVATE_KEYS_INACTIVE]
        oauth2_settings.OIDC_RSA_PRIVATE_KEY = new_key()
        print("rotated", flush=True)
