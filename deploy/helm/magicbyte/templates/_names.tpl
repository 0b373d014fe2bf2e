{{/* The name of the release's objects; short enough for those of the pods, which have at most 63 characters. */}}
{{- define "magicbyte.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of a server's objects; takes root and name. */}}
{{- define "magicbyte.name" -}}
{{- printf "%s-%s" (include "magicbyte.fullname" .root) .name -}}
{{- end -}}

{{- define "magicbyte.headless" -}}
{{- printf "%s-headless" (include "magicbyte.name" .) -}}
{{- end -}}

{{/* The domain of a server's pods; the resolver of a pod adds that of the cluster. */}}
{{- define "magicbyte.domain" -}}
{{- printf "%s.%s.svc" (include "magicbyte.headless" .) .root.Release.Namespace -}}
{{- end -}}

{{- define "magicbyte.scheme" -}}
{{- ternary "https" "http" .values.tls.enabled -}}
{{- end -}}

{{/* The URL of a server's Service. */}}
{{- define "magicbyte.url" -}}
{{- printf "%s://%s.%s.svc:%d" (include "magicbyte.scheme" .) (include "magicbyte.name" .) .root.Release.Namespace (int .values.service.port) -}}
{{- end -}}

{{/* The URL of the pod with a number. */}}
{{- define "magicbyte.podUrl" -}}
{{- printf "%s://%s-%d.%s:%d" (include "magicbyte.scheme" .) (include "magicbyte.name" .) (int .number) (include "magicbyte.domain" .) (int .values.service.port) -}}
{{- end -}}

{{- define "magicbyte.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "magicbyte.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "magicbyte.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "magicbyte.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "magicbyte.labels" -}}
{{ include "magicbyte.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- end -}}

{{/* The number of a server's pods. */}}
{{- define "magicbyte.replicas" -}}
{{- if hasKey .values "replicas" -}}
{{- int .values.replicas -}}
{{- else -}}
{{- get (dict "kafka" 3 "postgresql" 2 "sqlite" 1) .values.storage.type -}}
{{- end -}}
{{- end -}}
