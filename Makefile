# Every target sets itself up: the environment in .venv, locked dependencies, a JDK and the jars it needs.
# The lock file has wheels up to Python 3.14; a newer one is taken if there is no other.
PYTHON ?= $(shell for newest in 14 99; do for python in python3 python3.14 python3.13 python3.12 python3.11 python3.15; do \
	$$python -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $$newest))" 2>/dev/null && echo $$python && exit; done; done)
BIN := .venv/bin
DOCS := .venv-docs/bin
INSTALLED := .venv/installed
# The tools that build and check releases, images and charts.
DEPLOY_TOOLS := .venv-deploy/installed
JARS := .venv/jars-fetched
PACKAGES := compat magicbyte registry rest_proxy serdes spark_avro
CHECKED := $(PACKAGES) tests bench tools deploy $(wildcard examples)
# The page's JavaScript; Deno is a development dependency, and needs no network here.
DENO := DENO_NO_UPDATE_CHECK=1 $(BIN)/deno
OF_PAGE := --config tests/ui/deno.json magicbyte/ui/page tests/ui/deno

# What `make test AREA=...` runs; all of tests/ without it.
TESTS_compat := tests/compat
TESTS_json := tests/compat/json_schema
TESTS_registry := tests/registry
TESTS_serdes := tests/serdes tests/plugin
TESTS_http := tests/http
TESTS_metrics := tests/metrics
TESTS_rest := tests/rest
TESTS_spark := tests/spark
TESTS_check := tests/check
TESTS_security := tests/security
TESTS_ui := tests/ui
TESTS_platform := tests/platform tests/kit tests/structure tests/install tests/managed tests/release tests/docs
TESTS_brokers := $(shell grep -rlw --include='test_*.py' 'kafka\|temporary_broker' tests/registry) tests/rest tests/platform/test_broker.py
TESTS := $(if $(AREA),$(TESTS_$(AREA)),tests)
# A test waits for servers a third of its time, so three processes share two cores.
IN_THREE := -n 3
BENCHES := $(filter-out bench/kit/% bench/capacity.py,$(wildcard $(if $(AREA),bench/$(AREA)/*.py bench/$(AREA)*.py,bench/*/*.py bench/*.py)))
CHAOS := $(wildcard tests/chaos/$(AREA)*.py)
FUZZ := $(wildcard tests/fuzz/fuzz_$(AREA)*.py)

.PHONY: demo up docs docs-links docs-lock test test-all test-rest test-chaos test-firefox audit test-clients test-install test-versions test-spark test-brokers test-upgrade lint bench chaos fuzz lock openapi references wheel vendor image-test clean

demo: $(JARS)
	$(BIN)/python -P -m magicbyte.cli.main demo $(if $(KEEP),--keep)

up: $(JARS)
	$(BIN)/magicbyte up

test: $(JARS)
	@test -n "$(strip $(TESTS))" || { echo "no such area: AREA=$(AREA)" >&2; exit 2; }
	$(BIN)/python -P -m pytest $(TESTS) $(if $(AREA),,$(IN_THREE)) $(ARGS)

# The core, the long tests and those that need a browser, the long tests of Spark, what is deployed, the site, and the audit; Debian's Chromium and
# Firefox are installed if there are none. Without Firefox, its tests are skipped.
test-all: test test-rest test-spark-rest chart-test image-test metrics-test workflows-test docs audit

test-rest: $(JARS)
	$(BIN)/python -P tests/browser/chromium.py
	-$(BIN)/python -P tests/browser/chromium.py firefox
	$(BIN)/python -P -m pytest tests --ignore tests/spark -m "browser or slow" $(IN_THREE) $(ARGS)

# The long tests of Spark's functions and pipelines.
.PHONY: test-spark-rest
test-spark-rest: $(JARS)
	$(BIN)/python -P -m pytest tests/spark -m slow $(IN_THREE) $(ARGS)

# The short forms of the chaos programs for pipelines: drivers are killed, and what they read and wrote is changed. 15 minutes.
test-chaos: $(JARS)
	$(BIN)/python -P -m pytest tests -m chaos $(IN_THREE) $(ARGS)

# The main views in a stock Firefox, which is installed if there is none: Debian's firefox-esr.
test-firefox: $(INSTALLED)
	$(BIN)/python -P tests/browser/chromium.py firefox
	$(BIN)/python -P -m pytest tests/ui/browser/frame/test_firefox.py -m browser $(ARGS)

# Known vulnerabilities of the locked dependencies, over the network; ARGS=--strict fails if the network is missing.
audit: $(INSTALLED)
	$(BIN)/python -P tools/audit.py $(ARGS)

.PHONY: metrics-test dashboards
# Rules, panels and scrapes by promtool, which is fetched if there is none: Debian's package, unpacked.
metrics-test: $(JARS)
	$(BIN)/python -P tests/metrics/prometheus.py || test -z "$(CI)"
	$(BIN)/python -P -m pytest tests/metrics -m prometheus $(ARGS)

# deploy/grafana/*.json, from the tables of panels in deploy/grafana/build.py.
dashboards: $(INSTALLED)
	PYTHONPATH=deploy/grafana $(BIN)/python -P deploy/grafana/build.py

# Clients in other languages against a running registry; says which it leaves out if Node or Go is missing.
test-clients: $(INSTALLED)
	PYTHONPATH=. $(BIN)/python -P tests/clients/run.py

# Moves between registries of other vendors and ours, both ways; builds AxonOps' server once, over the network.
.PHONY: test-peers
test-peers: $(JARS)
	PYTHONPATH=. $(BIN)/python -P tests/peers/run.py

# Fresh environments from the wheel, over the network: without extras, with each, and through uvx.
test-install: $(JARS)
	$(BIN)/python -P -m pytest tests/install -m slow_install $(ARGS)

# The suite's core on each Python that uv finds, with the newest and the oldest dependencies; once a release, with --write.
test-versions: $(JARS)
	$(BIN)/python -P tests/versions/run.py $(if $(PYTHONS),--pythons $(PYTHONS)) $(if $(SETS),--sets $(SETS)) $(ARGS)

# The Spark tests with another PySpark, in an environment of its own: VERSION=3.5.7, or each that tests/spark/versions has.
test-spark: $(JARS)
	@set -e; for version in $(or $(VERSION),$(basename $(notdir $(wildcard tests/spark/versions/*.txt)))); do \
		echo "== PySpark $$version"; $(BIN)/python -P tests/spark/versions/run_version.py $$version $(ARGS); done

# The tests of registry and REST proxy that need a broker, on another Kafka: VERSION=2.8.2, or each that is not the usual.
test-brokers: $(JARS)
	@set -e; for version in $(or $(VERSION),2.8.2 3.9.2 4.4.0); do echo "== Kafka $$version"; \
		MAGICBYTE_KAFKA_VERSION=$$version $(BIN)/python -P -m pytest $(TESTS_brokers) $(ARGS); done

# A registry cluster from the last release to this one and back, node by node under writes.
test-upgrade: $(JARS)
	$(BIN)/python -P tests/upgrade/registry_rolling.py $(ARGS)

# A rolling update of three registry pods under reads and writes, by processes that get what Kubernetes would send them.
.PHONY: test-rolling
test-rolling: $(JARS)
	PYTHONPATH=. $(BIN)/python -P tests/upgrade/pods_rolling.py $(ARGS)

# The Helm chart: rendered, validated against the schemas of Kubernetes and of operators, and its pods run as processes.
# Builds Helm once, if there is Go.
.PHONY: chart-test
chart-test: $(JARS) $(DEPLOY_TOOLS)
	PYTHONPATH=. $(BIN)/python -P tests/deploy/chart/run.py $(ARGS)

# Builds the image without a daemon, on a base of Debian's packages, and runs it; needs root, and the network once.
image-test: $(INSTALLED) $(DEPLOY_TOOLS)
	PYTHONPATH=. $(BIN)/python -P -m tools.images.image_test

lint: $(INSTALLED)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy
	$(DENO) fmt --check --quiet $(OF_PAGE)
	$(DENO) lint --quiet $(OF_PAGE)
	$(DENO) check --quiet --no-remote $(OF_PAGE)

bench: $(JARS)
	@test -n "$(strip $(BENCHES))" || { echo "no such area: AREA=$(AREA)" >&2; exit 2; }
	@set -e; for bench in $(BENCHES); do echo "== $$bench"; PYTHONPATH=bench/kit $(BIN)/python -P $$bench $(ARGS); done

# The figures of docs/capacity.md, which takes long and needs an idle machine; ARGS=--write replaces them.
.PHONY: bench-capacity
bench-capacity: $(JARS)
	PYTHONPATH=bench/kit:. $(BIN)/python -P bench/capacity.py $(ARGS)

# Each program has options of its own, so ARGS need AREA: AREA=pipeline_restored ARGS=--short.
chaos: $(JARS)
	@test -n "$(strip $(CHAOS))" || { echo "no such area: AREA=$(AREA)" >&2; exit 2; }
	@test -n "$(AREA)$(if $(ARGS),,none)" || { echo "ARGS need AREA: the programs have options of their own" >&2; exit 2; }
	@set -e; for run in $(CHAOS); do echo "== $$run"; PYTHONPATH=. $(BIN)/python -P $$run $(ARGS); done

fuzz: $(JARS)
	@test -n "$(strip $(FUZZ))" || { echo "no such area: AREA=$(AREA)" >&2; exit 2; }
	@test -n "$(AREA)$(if $(ARGS),,none)" || { echo "ARGS need AREA: the programs have options of their own" >&2; exit 2; }
	@set -e; for run in $(FUZZ); do echo "== $$run"; $(BIN)/python -P $$run $(ARGS); done

# Versions and hashes of all dependencies, for every platform; ARGS=--upgrade takes the newest.
lock: $(INSTALLED)
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --extra dev --python-version 3.11 --no-header --no-annotate \
		$(ARGS) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-annotate \
		$(ARGS) deploy/requirements.in -o deploy/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --extra server --extra postgresql --extra msk \
		--python-version 3.11 --no-header --no-annotate -c requirements.lock pyproject.toml -o deploy/images/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --extra spark40 --extra msk --python-version 3.11 --no-header \
		--no-annotate --no-emit-package pyspark --no-emit-package py4j -c requirements.lock pyproject.toml \
		-o deploy/images/requirements-spark.lock

# The contracts that are generated: from the rows of each table and what their endpoints declare.
openapi: $(INSTALLED)
	$(BIN)/python -P -m registry.http.contract openapi/registry.yaml
	$(BIN)/python -P -m rest_proxy.http.description openapi/rest-proxy-v2.yaml
	$(BIN)/python -P -m rest_proxy.v3.description openapi/rest-proxy-v3.yaml
	$(BIN)/python -P -m magicbyte.ui.description openapi/ui.yaml

# The references of settings in docs/, from the tables of settings; and the files of the Helm chart that are generated.
references: $(INSTALLED)
	PYTHONPATH=. $(BIN)/python -P tools/references.py
	PYTHONPATH=. $(BIN)/python -P tools/chart_files.py

# The documentation site in dist/docs, without a warning, a broken link or a known misspelling; docs/words.txt has the
# words that are right.
docs: .venv-docs/installed
	$(DOCS)/lychee --offline --include-fragments --no-progress *.md docs examples
	$(DOCS)/codespell --ignore-words docs/words.txt --skip '*.lock,*.png,*/vendor/*,*.js' *.md docs examples openapi $(PACKAGES) tools
	PYTHONPATH=. $(DOCS)/python -P -m tools.docs.build $(ARGS)

# Links to other sites, over the network; not in CI, since other sites fail as they like.
docs-links: .venv-docs/installed
	$(DOCS)/lychee --include-fragments --no-progress *.md docs examples

docs-lock: $(INSTALLED)
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-annotate \
		$(ARGS) docs/requirements.in -o docs/requirements.lock

# dist/magicbyte-VERSION-py3-none-any.whl; the built page needs npm on PATH.
wheel: $(INSTALLED)
	$(BIN)/python -m hatchling build --target wheel

# The page's JavaScript libraries and fonts, from the npm packages that vendor.json pins; needs Node and the network.
vendor:
	$(BIN)/python -P tests/ui/vendor/bundle.py

# Everything that a release needs, on a clean clone of the last commit; ARGS=--quick leaves lint and the tests out.
.PHONY: release-check
release-check: $(INSTALLED) $(DEPLOY_TOOLS)
	PYTHONPATH=. $(BIN)/python -P -m tools.release.check $(ARGS)

# The workflow files under .github: actionlint, zizmor, and the schemas of GitHub's files.
.PHONY: workflows-test
workflows-test: $(INSTALLED) $(DEPLOY_TOOLS)
	PYTHONPATH=. $(BIN)/python -P -m tools.release.workflows

clean:
	rm -rf .venv .venv-* dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Magicbyte needs Python 3.11 or newer on PATH (or PYTHON=/path/to/python)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Two test processes may want the tools at once, so the installation has a lock.
$(DEPLOY_TOOLS): deploy/requirements.lock
	@test -n "$(PYTHON)" || { echo "Magicbyte needs Python 3.11 or newer on PATH (or PYTHON=/path/to/python)" >&2; exit 1; }
	@mkdir -p .venv-deploy
	flock .venv-deploy/lock sh -c 'test $@ -nt $< || { $(PYTHON) -m venv .venv-deploy && \
		.venv-deploy/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
		--requirement $< && touch $@; }'

# The site's tools see the packages of .venv: the pages of the Python API are made from the code.
.venv-docs/installed: docs/requirements.lock | $(INSTALLED)
	$(BIN)/python -m venv --clear .venv-docs
	$(DOCS)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement docs/requirements.lock
	$(BIN)/python -P tools/docs/see_packages.py $(DOCS)/python
	@touch $@

$(JARS): $(INSTALLED) $(wildcard magicbyte/platform/jars/*.lock)
	$(BIN)/python -P -m magicbyte.platform.java ensure
	$(BIN)/python -P -m magicbyte.platform.jars fetch
	$(BIN)/python -P -m magicbyte.platform.broker prepare
	@touch $@
