"""`manifest`: prints the SparkApplication that runs a pipeline in Kubernetes."""

from __future__ import annotations

import argparse
import re
import shlex
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
#: The properties that the operator or the driver's Java needs before the program reads the file.
_BEFORE_THE_FILE = re.compile(
    r"spark\.(?:kubernetes|jars|submit|files|archives|master|app)\b.*"
    r"|spark\.driver\.(?:memory|cores|resource|extra|defaultJavaOptions|userClassPathFirst|supervise).*"
    r"|spark\.executor\.(?:instances|cores|memory).*"
)


def manifest(options: argparse.Namespace) -> int:
    """Print the manifest, and on stderr what it needs; returns the exit code.

    Raises:
        Ended: no image is named, the port is none, or the program's path is relative.
    """
    import pyspark  # noqa: PLC0415 - starts slowly

    from magicbyte.cli.pipeline.submitting import main_program, packages_of  # noqa: PLC0415 - with pyspark

    pipeline = declared(options)
    if options.image:
        pipeline = replace(pipeline, spark={**pipeline.spark, _IMAGE: options.image})
    if _IMAGE not in pipeline.spark:
        raise Ended(BAD_USAGE, f"{options.file}: spark: {_IMAGE} is missing; name the image there, or by --image")
    if options.metrics_port not in _PORTS:
        raise Ended(BAD_USAGE, f"--metrics-port must be a number from 1 to 65535, not {options.metrics_port}")
    program = options.program or main_program()
    if not PurePosixPath(program).is_absolute():
        raise Ended(BAD_USAGE, f"--program must be an absolute path in the image, not {program}")
    packages = pipeline.spark.get("spark.jars.packages", packages_of(pipeline.pipeline))
    image = Image(
        program,
        pyspark.__version__,
        tuple(name for name in packages.split(",") if name),
        options.metrics_port,
        options.secret,
    )
    document = spark_application(pipeline, image, [*pipeline.arguments, *unhealthy_after(options)])
    from magicbyte.cli.pipeline.deploy.manifest_text import manifest_text  # noqa: PLC0415 - needs YAML

    sys.stdout.write(manifest_text(document))
    for need in _needs(pipeline, image):
        tell(PROGRAM, need)
    return 0


def _needs(pipeline: Declared, image: Image) -> Iterator[str]:
    """The objects that the cluster needs before the manifest, and the properties that are not in it."""
    name = kubernetes_name(pipeline.pipeline.name)
    sources = shlex.join(f"--from-file={file}" for file in (pipeline.file, *pipeline.included))
    yield f"needs the ConfigMap {name} with the file: kubectl create configmap {name} {sources}"
    if elsewhere := [path for path in pipeline.included.values() if PurePosixPath(path).name != path]:
        yield f"a ConfigMap has no folders: include {elsewhere[0]} by its name alone"
    if pipeline.variables:
        keys = ", ".join(
            variable if needed else f"{variable} (optional)" for variable, needed in pipeline.variables.items()
        )
        yield f"needs the Secret {image.secret or name} with the keys {keys}"
    for file in pipeline.files:
        yield f"a placeholder reads {file}, which has to be in the driver's pod; mount it by driver.secrets"
    mounted = FOLDER / pipeline.file.name
    for hidden in pipeline.hidden:
        if _BEFORE_THE_FILE.fullmatch(hidden):
            yield f"{hidden} is not in the manifest, and the driver reads {mounted} too late for it: add it yourself"
        else:
            yield f"{hidden} is not in the manifest: the driver takes it from {mounted} when it has started"
