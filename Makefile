# linkd: what a newcomer types. `make help` lists it.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
BUILD := .build/release

# What the programs are built from, and what they load when they need it.
BUILD_PACKAGES := build-essential pkg-config libdbus-1-dev libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev \
  libgcrypt20-dev libidn2-dev libqrencode-dev
# What the demo and the tests use besides: real parts, and checkers that aren't ours.
TEST_PACKAGES := dbus xdg-utils libglib2.0-bin desktop-file-utils shared-mime-info sqlite3 openssl curl nodejs \
  python3 python3-dbus python3-gi gjs procps binutils util-linux chromium chromium-driver python3-django-oauth-toolkit \
  python3-venv python3-dbus-next oathtool qrencode zbar-tools
# The numbers that ours are compared with are of this release (scripts/phone-numbers).
PHONENUMBERS := 9.0.43

.DEFAULT_GOAL := help
.PHONY: help deps build-deps static-runtime build demo test fuzz sanitize bench format lint install uninstall clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What of $(1) is missing is installed.
define install
	@missing=""; for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; $(SUDO) apt-get update -qq; \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; fi
endef

deps: build-deps ## install the Debian packages that are missing
	$(call install,$(TEST_PACKAGES))
	@ls -d .build-python/lib/python3*/site-packages/phonenumbers-$(PHONENUMBERS).dist-info >/dev/null 2>&1 || \
	  { python3 -m venv .build-python && .build-python/bin/pip install -q phonenumbers==$(PHONENUMBERS); } || \
	  echo "phonenumbers $(PHONENUMBERS) can't be had: the table of phone numbers isn't compared with it"

build-deps: ## those of them that building needs
	$(call install,$(BUILD_PACKAGES))

# Linked with the Swift runtime inside and stripped: nothing of the toolchain is needed where they run. How the rest keeps
# their starts short is told in docs/design/0004-speed.md.
RELEASE := build -c release --static-swift-stdlib -Xlinker -s -Xlinker --no-export-dynamic
# Relocations in the packed form, where the C library reads it (glibc 2.36).
ifneq ($(shell readelf -V $$(gcc -print-file-name=libc.so.6) 2>/dev/null | grep GLIBC_ABI_DT_RELR),)
RELEASE += -Xlinker -z -Xlinker pack-relative-relocs
endif

# In the folder that the linker looks into first: so the C++ runtime is linked in instead of loaded.
static-runtime: build-deps
	@folder=$$($(SWIFT) build -c release --show-bin-path) && mkdir -p "$$folder" && \
	  ln -sf "$$(gcc -print-file-name=libstdc++.a)" "$$folder/libstdc++.a" && \
	  ln -sf "$$(gcc -print-file-name=libgcc_eh.a)" "$$folder/libgcc_s.a"

build: static-runtime ## linkd, linkctl and auth-emulator in .build/release
	$(SWIFT) $(RELEASE) --product linkd
	$(SWIFT) $(RELEASE) --product linkctl
	$(SWIFT) $(RELEASE) --product auth-emulator

demo: deps build ## the main job on real parts: a mailed link becomes a session
	scripts/demo $(BUILD)

test: deps ## every test
	scripts/test

fuzz: deps ## an hour of fuzzing; FUZZ_SECONDS for each target
	scripts/fuzz

sanitize: deps ## the tests with the address and the thread sanitizer
	scripts/sanitize

bench: deps build ## ratios to the floors of the bus, the loader and the disk
	scripts/bench $(BUILD)

format: ## rewrite the sources in the one style
	$(SWIFT) format -i -r Package.swift Sources Tests examples/swift fuzz

lint: ## complain where the style isn't kept
	$(SWIFT) format lint --strict -r Package.swift Sources Tests examples/swift fuzz

install: ## put the built programs and desktop files under PREFIX
	scripts/install "$(BUILD)" "$(DESTDIR)" "$(PREFIX)"

uninstall: ## take them away again
	scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

clean: ## remove what was built
	rm -rf .build .build-*
