"""`manifest`: prints the SparkApplication that runs a pipeline in Kubernetes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from magicbyte.cli.pipeline.deploy.declared import Declared, declared, unhealthy_after
from magicbyte.cli.pipeline.deploy.kubernetes_name import kubernetes_name
from magicbyte.cli.pipeline.deploy.spark_application import FOLDER, Image, spark_application
from magicbyte.cli.pipeline.outcome import PROGRAM
from serdes.console.outcome import BAD_USAGE, Ended, tell

_IMAGE = "spark.kubernetes.container.image"
_PORTS = range(1, 65536)


def manifest(options: argparse.Namespace) -> int:
    """Print the manifest, and on stderr what it needs; returns the exit code.

    Raises:
        Ended: no image is named, or the port is none.
    """
    import pyspark  # noqa: PLC0415 - starts slowly
    import yaml  # noqa: PLC0415 - in an extra

    from magicbyte.cli.pipeline.submitting import main_program, packages_of  # noqa: PLC0415 - with pyspark

    pipeline = declared(options)
    if options.image:
        pipeline = replace(pipeline, spark={**pipeline.spark, _IMAGE: options.image})
    if _IMAGE not in pipeline.spark:
        raise Ended(BAD_USAGE, f"{options.file}: spark: {_IMAGE} is missing; name the image there, or by --image")
    if options.port not in _PORTS:
        raise Ended(BAD_USAGE, f"--port must be a number from 1 to 65535, not {options.port}")
    packages = pipeline.spark.get("spark.jars.packages", packages_of(pipeline.pipeline))
    image = Image(
        options.program or main_program(),
        pyspark.__version__,
        tuple(name for name in packages.split(",") if name),
        options.port,
        options.secret,
    )
    document = spark_application(pipeline, image, [*pipeline.arguments, *unhealthy_after(options)])
    sys.stdout.write(yaml.safe_dump(document, sort_keys=False, width=110, allow_unicode=True))
    for need in _needs(pipeline, image):
        tell(PROGRAM, need)
    return 0


def _needs(pipeline: Declared, image: Image) -> Iterator[str]:
    """What has to be in the cluster before the manifest."""
    name = kubernetes_name(pipeline.pipeline.name)
    files = [pipeline.file, *(pipeline.file.parent / included for included in pipeline.pipeline.include)]
    sources = " ".join(f"--from-file={file}" for file in files)
    yield f"needs the ConfigMap {name} with the file: kubectl create configmap {name} {sources}"
    if nested := [included for included in pipeline.pipeline.include if PurePosixPath(included).name != included]:
        yield f"a ConfigMap has no folders: include {nested[0]} by its name alone"
    if pipeline.variables:
        keys = ", ".join(
            variable if needed else f"{variable} (optional)" for variable, needed in pipeline.variables.items()
        )
        yield f"needs the Secret {image.secret or name} with the keys {keys}"
    for file in pipeline.files:
        yield f"a placeholder reads {file}, which has to be in the driver's pod; mount it by driver.secrets"
    mounted = FOLDER / pipeline.file.name
    for hidden in pipeline.hidden:
        yield f"{hidden} is not in the manifest: the driver takes it from {mounted} when it has started"
