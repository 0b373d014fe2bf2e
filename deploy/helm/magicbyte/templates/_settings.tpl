{{/*
The settings of a server, as JSON: config (property -> text), secrets (property -> Secret), files (property -> Secret or
ConfigMap) and env (variable -> text, in which the kubelet replaces $(POD_NAME)).

The chart's own come first, and values may not change them; values may change the defaults. Takes root, name and values.
*/}}
{{- define "magicbyte.settings" -}}
{{- $own := include (printf "magicbyte.%sSettings" (ternary "registry" "proxy" (eq .name "registry"))) . | fromJson -}}
{{- $tls := include "magicbyte.tlsSettings" . | fromJson -}}
{{- $config := merge (dict "listeners" (printf "%s://%s:%d" (include "magicbyte.scheme" .) .values.service.listenAddress (int .values.service.port))) $own.config $tls.config -}}
{{- $secrets := $own.secrets -}}
{{- $files := merge (dict) $own.files $tls.files -}}
{{- $managed := concat (keys $config) (keys $secrets) (keys $files) (keys $own.env) -}}
{{- $section := ternary "registry" "restProxy" (eq .name "registry") -}}
{{- range $kind := list "config" "secrets" "files" -}}
{{- range $property := keys (get $.values $kind) | sortAlpha -}}
{{- if has $property $managed -}}
{{- fail (printf "%s.%s: %s is set by the chart, from its other values" $section $kind $property) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $property, $value := .values.config -}}
{{- $text := include "magicbyte.text" $value -}}
{{- if or (hasKey $.values.secrets $property) (hasKey $.values.files $property) -}}
{{- fail (printf "%s.config: %s is also in secrets or files; one of them has to go" $section $property) -}}
{{- end -}}
{{- if and (include "magicbyte.isSecret" $property) (not (contains "${" $text)) (not (has (lower $text) (list "" "true" "false"))) -}}
{{- fail (printf "%s.config: %s is a secret, and a ConfigMap does not protect it; put its Secret into %s.secrets" $section $property $section) -}}
{{- end -}}
{{- $_ := set $config $property $text -}}
{{- end -}}
{{- include "magicbyte.checkClients" (dict "section" $section "config" .values.config) -}}
{{- include "magicbyte.checkSignIn" (merge (dict "section" $section) .) -}}
{{- if hasKey .values.config "magicbyte.workers" -}}
{{- fail "registry.config: a pod has one process, which other nodes and Prometheus can reach; raise registry.replicas instead of magicbyte.workers" -}}
{{- end -}}
{{- range $property, $value := $own.defaults -}}
{{- if not (or (hasKey $config $property) (hasKey $.values.secrets $property) (hasKey $.values.files $property)) -}}
{{- $_ := set $config $property $value -}}
{{- end -}}
{{- end -}}
{{- dict "config" $config "secrets" (merge $secrets .values.secrets) "files" (merge $files .values.files) "env" $own.env | toJson -}}
{{- end -}}

{{/* A value as a text: whole numbers without an exponent. */}}
{{- define "magicbyte.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* Whether a property holds a secret, by its name; magicbyte/kit/secret.py has the same words. */}}
{{- define "magicbyte.isSecret" -}}
{{- $name := lower . -}}
{{- if regexMatch `password|passwd|passphrase|(^|[._-])pwd$|secret|(^|[._-])key($|s$)|account\.key\.|(^|[._-])sas([._-]|$)|connection[._-]string|ssl\.keystore\.key|token($|s$)|jaas|user\.info|credential|sasl\.password` $name -}}
{{- if not (and (contains "credentials.source" $name) (not (regexMatch `password|secret|jaas|user\.info` $name))) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* The kubelet asks the probes without a certificate, so no certificate can be demanded of all clients. */}}
{{- define "magicbyte.checkClients" -}}
{{- $demanded := get .config "ssl.client.authentication" | default "" | toString | upper -}}
{{- if or (eq $demanded "REQUIRED") (eq (get .config "ssl.client.auth" | toString | lower) "true") -}}
{{- fail (printf "%s.config: the kubelet has no client certificate, so its probes would fail; use ssl.client.authentication: REQUESTED and authentication.method: SSL, with which only the health paths need no certificate" .section) -}}
{{- end -}}
{{- end -}}

{{/* What a server with sign-in needs; it would not start without. Takes root, name, values and section. */}}
{{- define "magicbyte.checkSignIn" -}}
{{- $methods := get .values.config "authentication.method" | default "NONE" | toString | upper -}}
{{- if ne $methods "NONE" -}}
{{- $plaintext := get .values.config "magicbyte.allow.plaintext.credentials" | toString | lower -}}
{{- if not (or .values.tls.enabled (eq $plaintext "true")) -}}
{{- fail (printf "%s.tls.enabled: with authentication.method, credentials would cross the network in the clear; enable TLS, or set magicbyte.allow.plaintext.credentials" .section) -}}
{{- end -}}
{{- $asksOthers := ternary (eq (dig "storage" "type" "" .values) "kafka") (gt (int .values.replicas) 1) (eq .name "registry") -}}
{{- if and $asksOthers (not (hasKey .values.secrets "magicbyte.inter.instance.secret")) (not (hasKey .values.config "magicbyte.inter.instance.secret")) -}}
{{- fail (printf "%s.secrets: with authentication.method, the pods need one magicbyte.inter.instance.secret, to prove to each other who sent a request" .section) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What TLS adds to the settings of a server, as JSON. */}}
{{- define "magicbyte.tlsSettings" -}}
{{- $config := dict -}}
{{- $files := dict -}}
{{- if .values.tls.enabled -}}
{{- $section := ternary "registry" "restProxy" (eq .name "registry") -}}
{{- $secret := required (printf "%s.tls.secretName: with TLS, give the Secret of the certificate" $section) .values.tls.secretName -}}
{{- $_ := set $files "ssl.certificate.location" (dict "secret" $secret "key" "tls.crt") -}}
{{- $_ := set $files "ssl.key.location" (dict "secret" $secret "key" "tls.key") -}}
{{- if .values.tls.caKey -}}
{{- $_ := set $files "ssl.ca.location" (dict "secret" $secret "key" .values.tls.caKey) -}}
{{- end -}}
{{- if eq .name "registry" -}}
{{- $_ := set $config "inter.instance.protocol" "https" -}}
{{- end -}}
{{- end -}}
{{- dict "config" $config "files" $files | toJson -}}
{{- end -}}

{{/* The chart's own settings of the registry, as JSON. */}}
{{- define "magicbyte.registrySettings" -}}
{{- $storage := .values.storage -}}
{{- $config := dict -}}
{{- $secrets := dict -}}
{{- $files := dict -}}
{{- $defaults := dict -}}
{{- if eq $storage.type "kafka" -}}
{{- $_ := set $config "magicbyte.storage" "kafka:" -}}
{{- $_ := set $config "kafkastore.bootstrap.servers" (include "magicbyte.bootstrapServers" .root) -}}
{{- $client := include "magicbyte.kafkaClient" (merge (dict "prefix" "kafkastore.") .) | fromJson -}}
{{- $config = merge $config $client.config -}}
{{- $secrets = $client.secrets -}}
{{- $files = $client.files -}}
{{- /* More than there are pods, so that scaling up does not restart those that run. */ -}}
{{- $urls := list -}}
{{- range $number := until (max 10 (int (include "magicbyte.replicas" .)) | int) -}}
{{- $urls = append $urls (include "magicbyte.podUrl" (merge (dict "number" $number) $)) -}}
{{- end -}}
{{- $_ := set $config "magicbyte.inter.instance.urls" (join "," $urls) -}}
{{- /* As long as the startup probe waits. */ -}}
{{- $_ := set $defaults "kafkastore.init.timeout.ms" "600000" -}}
{{- if .root.Values.strimzi.topic.enabled -}}
{{- $_ := set $defaults "kafkastore.topic.replication.factor" (toString .root.Values.strimzi.topic.replicas) -}}
{{- end -}}
{{- else if eq $storage.type "postgresql" -}}
{{- if and $storage.postgresql.url $storage.postgresql.urlSecret.name -}}
{{- fail "registry.storage.postgresql: give url or urlSecret, not both" -}}
{{- else if $storage.postgresql.urlSecret.name -}}
{{- $_ := set $secrets "magicbyte.storage" $storage.postgresql.urlSecret -}}
{{- else -}}
{{- $_ := set $config "magicbyte.storage" (required "registry.storage.postgresql: give urlSecret, the Secret with the URL of the database, or url" $storage.postgresql.url) -}}
{{- end -}}
{{- else -}}
{{- $_ := set $config "magicbyte.storage" "sqlite:////var/lib/magicbyte/schemas.db" -}}
{{- end -}}
{{- $proxy := .root.Values.restProxy -}}
{{- if and $proxy.enabled (not $proxy.tls.enabled) -}}
{{- /* The page shows topics and messages through the proxy of this release. */ -}}
{{- $_ := set $defaults "magicbyte.ui.rest.url" (include "magicbyte.url" (dict "root" .root "name" "rest-proxy" "values" $proxy)) -}}
{{- end -}}
{{- $env := dict "host.name" (printf "$(POD_NAME).%s" (include "magicbyte.domain" .)) "magicbyte.node.id" "$(POD_NAME)" -}}
{{- dict "config" $config "secrets" $secrets "files" $files "env" $env "defaults" $defaults | toJson -}}
{{- end -}}

{{/* The chart's own settings of the REST proxy, as JSON. */}}
{{- define "magicbyte.proxySettings" -}}
{{- $client := include "magicbyte.kafkaClient" (merge (dict "prefix" "client.") .) | fromJson -}}
{{- $config := merge (dict "bootstrap.servers" (include "magicbyte.bootstrapServers" .root)) $client.config -}}
{{- $files := $client.files -}}
{{- $registry := dict "root" .root "name" "registry" "values" .root.Values.registry -}}
{{- if .values.schemaRegistryUrl -}}
{{- $_ := set $config "schema.registry.url" .values.schemaRegistryUrl -}}
{{- else if .root.Values.registry.enabled -}}
{{- $_ := set $config "schema.registry.url" (include "magicbyte.url" $registry) -}}
{{- $tls := .root.Values.registry.tls -}}
{{- if and $tls.enabled $tls.caKey -}}
{{- $_ := set $config "schema.registry.ssl.truststore.type" "PEM" -}}
{{- $_ := set $files "schema.registry.ssl.truststore.location" (dict "secret" $tls.secretName "key" $tls.caKey) -}}
{{- end -}}
{{- else -}}
{{- fail "restProxy.schemaRegistryUrl: say where the registry is, or enable this chart's" -}}
{{- end -}}
{{- $env := dict -}}
{{- if gt (int .values.replicas) 1 -}}
{{- $peers := list -}}
{{- range $number := until (int .values.replicas) -}}
{{- $peers = append $peers (include "magicbyte.podUrl" (merge (dict "number" $number) $)) -}}
{{- end -}}
{{- $_ := set $config "peers" (join "," $peers) -}}
{{- $_ := set $env "peers.self" (printf "%s://$(POD_NAME).%s:%d" (include "magicbyte.scheme" .) (include "magicbyte.domain" .) (int .values.service.port)) -}}
{{- end -}}
{{- dict "config" $config "secrets" $client.secrets "files" $files "env" $env "defaults" (dict) | toJson -}}
{{- end -}}

{{/* A .properties file: one line for each property, in which a backslash begins an escape. */}}
{{- define "magicbyte.propertiesFile" -}}
{{- $texts := .config -}}
{{- range $property, $file := .files -}}
{{- $_ := set $texts $property (printf "%s/etc/magicbyte/files/%s" ($file.prefix | default "") $property) -}}
{{- end -}}
{{- $lines := list -}}
{{- range $property, $text := $texts -}}
{{- $escaped := $text | replace "\\" "\\\\" | replace "\n" "\\n" | replace "\r" "\\r" | replace "\t" "\\t" | replace "\f" "\\f" -}}
{{- $lines = append $lines (printf "%s=%s" $property (regexReplaceAll "^ " $escaped "\\ ")) -}}
{{- end -}}
{{- join "\n" $lines -}}
{{- end -}}

{{/* The variable of a property, as the images of Confluent spell it. */}}
{{- define "magicbyte.variable" -}}
{{- printf "%s%s" (ternary "SCHEMA_REGISTRY_" "KAFKA_REST_" (eq .name "registry")) (.property | replace "_" "___" | replace "-" "__" | replace "." "_" | upper) -}}
{{- end -}}
