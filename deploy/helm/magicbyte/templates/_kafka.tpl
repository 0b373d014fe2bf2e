{{/* Where Kafka is; empty if no value says it. */}}
{{- define "magicbyte.bootstrapServers" -}}
{{- if .Values.kafka.bootstrapServers -}}
{{- .Values.kafka.bootstrapServers -}}
{{- else if .Values.strimzi.cluster -}}
{{- printf "%s-kafka-bootstrap.%s.svc:%d" .Values.strimzi.cluster .Release.Namespace (ternary 9092 9093 (hasPrefix "PLAINTEXT" (include "magicbyte.securityProtocol" .))) -}}
{{- else -}}
{{- fail "kafka.bootstrapServers: say where Kafka is, as HOST:PORT, or give strimzi.cluster" -}}
{{- end -}}
{{- end -}}

{{/* How clients speak to Kafka: as the values say, or as the KafkaUsers of this release do. */}}
{{- define "magicbyte.securityProtocol" -}}
{{- if .Values.kafka.securityProtocol -}}
{{- .Values.kafka.securityProtocol -}}
{{- else if .Values.strimzi.users.enabled -}}
{{- ternary "SASL_SSL" "SSL" (eq .Values.strimzi.users.authentication "scram-sha-512") -}}
{{- else -}}
PLAINTEXT
{{- end -}}
{{- end -}}

{{/* The Secret with the certificate of the brokers' authority, as JSON; empty for the system's authorities. */}}
{{- define "magicbyte.kafkaCa" -}}
{{- if .Values.kafka.caSecret.name -}}
{{- toJson .Values.kafka.caSecret -}}
{{- else if and .Values.strimzi.cluster (hasSuffix "SSL" (include "magicbyte.securityProtocol" .)) -}}
{{- toJson (dict "name" (printf "%s-cluster-ca-cert" .Values.strimzi.cluster) "key" "ca.crt") -}}
{{- end -}}
{{- end -}}

{{/*
What a server's Kafka clients need, as JSON: config, secrets and files.
Takes root, name, and prefix, with which the names of the properties begin.
*/}}
{{- define "magicbyte.kafkaClient" -}}
{{- $protocol := include "magicbyte.securityProtocol" .root -}}
{{- $users := .root.Values.strimzi.users -}}
{{- $config := dict -}}
{{- $secrets := dict -}}
{{- $files := dict -}}
{{- if ne $protocol "PLAINTEXT" -}}
{{- $_ := set $config (printf "%ssecurity.protocol" .prefix) $protocol -}}
{{- end -}}
{{- if hasPrefix "SASL" $protocol -}}
{{- $mechanism := .root.Values.kafka.saslMechanism | default (ternary "SCRAM-SHA-512" "" $users.enabled) -}}
{{- $mechanism = required "kafka.saslMechanism: with SASL, say which mechanism, such as SCRAM-SHA-512" $mechanism -}}
{{- $_ := set $config (printf "%ssasl.mechanism" .prefix) $mechanism -}}
{{- end -}}
{{- $ca := include "magicbyte.kafkaCa" .root -}}
{{- if and $ca (hasSuffix "SSL" $protocol) -}}
{{- $secret := fromJson $ca -}}
{{- $_ := set $config (printf "%sssl.truststore.type" .prefix) "PEM" -}}
{{- $_ := set $files (printf "%sssl.truststore.location" .prefix) (dict "secret" $secret.name "key" $secret.key) -}}
{{- end -}}
{{- if $users.enabled -}}
{{- $user := include "magicbyte.name" . -}}
{{- if eq $users.authentication "tls" -}}
{{- $_ := set $config (printf "%sssl.keystore.type" .prefix) "PKCS12" -}}
{{- $_ := set $files (printf "%sssl.keystore.location" .prefix) (dict "secret" $user "key" "user.p12") -}}
{{- $_ := set $secrets (printf "%sssl.keystore.password" .prefix) (dict "name" $user "key" "user.password") -}}
{{- else -}}
{{- $_ := set $secrets (printf "%ssasl.jaas.config" .prefix) (dict "name" $user "key" "sasl.jaas.config") -}}
{{- end -}}
{{- end -}}
{{- dict "config" $config "secrets" $secrets "files" $files | toJson -}}
{{- end -}}
