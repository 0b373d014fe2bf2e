{{/* Whether a server keeps its data in files of its own. */}}
{{- define "magicbyte.keepsFiles" -}}
{{- if eq .name "registry" -}}
{{- if eq .values.storage.type "sqlite" -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pod of a server; takes root, name and values. */}}
{{- define "magicbyte.pod" -}}
{{- $settings := include "magicbyte.settings" . | fromJson -}}
metadata:
  labels:
    {{- /* Without the versions: a new chart alone restarts nothing. */}}
    {{- include "magicbyte.selectorLabels" . | nindent 4 }}
    {{- with .values.pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "magicbyte.propertiesFile" $settings | sha256sum }}
    {{- with .values.pod.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "magicbyte.serviceAccount" .root }}
  automountServiceAccountToken: false
  # A Service named schema-registry would set SCHEMA_REGISTRY_PORT, which looks like a setting.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ int .values.terminationGracePeriodSeconds }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: {{ .name }}
      image: {{ include "magicbyte.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ .name }}, --config, /etc/magicbyte/config/{{ .name }}.properties]
      env:
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- range $property, $text := $settings.env }}
        - name: {{ include "magicbyte.variable" (dict "name" $.name "property" $property) }}
          value: {{ $text }}
        {{- end }}
        {{- range $property, $_ := $settings.secrets }}
        - name: {{ include "magicbyte.variable" (dict "name" $.name "property" $property) }}_FILE
          value: /etc/magicbyte/secrets/{{ $property }}
        {{- end }}
        {{- with .values.pod.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - name: {{ include "magicbyte.scheme" . }}
          containerPort: {{ int .values.service.port }}
      {{- include "magicbyte.probes" . | nindent 6 }}
      lifecycle:
        preStop:
          # The endpoints of the Service lose this pod meanwhile. At SIGTERM a leader hands the lead over by itself.
          sleep:
            seconds: {{ int .values.preStopSleepSeconds }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: config
          mountPath: /etc/magicbyte/config
          readOnly: true
        {{- range $kind := list "secrets" "files" }}
        {{- if get $settings $kind }}
        - name: {{ $kind }}
          mountPath: /etc/magicbyte/{{ $kind }}
          readOnly: true
        {{- end }}
        {{- end }}
        {{- if include "magicbyte.keepsFiles" . }}
        - name: data
          mountPath: /var/lib/magicbyte
        {{- end }}
        - name: tmp
          mountPath: /tmp
        {{- with .values.pod.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "magicbyte.name" . }}
    {{- with $settings.secrets }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $property, $secret := . }}
          - secret:
              name: {{ $secret.name }}
              items:
                - {key: {{ $secret.key }}, path: {{ $property }}}
          {{- end }}
    {{- end }}
    {{- with $settings.files }}
    - name: files
      projected:
        defaultMode: 0440
        sources:
          {{- range $property, $file := . }}
          - {{ ternary "secret" "configMap" (hasKey $file "secret") }}:
              name: {{ $file.secret | default $file.configMap }}
              items:
                - {key: {{ $file.key }}, path: {{ $property }}}
          {{- end }}
    {{- end }}
    - name: tmp
      emptyDir: {}
    {{- with .values.pod.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- include "magicbyte.placement" . | nindent 2 }}
{{- end -}}

{{/* The probes of a server: startup waits for ten minutes, and only readiness asks Kafka. */}}
{{- define "magicbyte.probes" -}}
{{- $scheme := include "magicbyte.scheme" . -}}
startupProbe:
  httpGet:
    path: {{ ternary "/health/startup" "/health/live" (eq .name "registry") }}
    port: {{ $scheme }}
    scheme: {{ upper $scheme }}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 300
livenessProbe:
  httpGet:
    path: /health/live
    port: {{ $scheme }}
    scheme: {{ upper $scheme }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: {{ .values.readinessPath }}
    port: {{ $scheme }}
    scheme: {{ upper $scheme }}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* Which nodes a server's pods run on. */}}
{{- define "magicbyte.placement" -}}
topologySpreadConstraints:
  {{- if .values.pod.topologySpreadConstraints }}
  {{- toYaml .values.pod.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "magicbyte.selectorLabels" $ | nindent 8 }}
  {{- end }}
  {{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $.values.pod $field }}
{{ dict $field . | toYaml }}
{{- end }}
{{- end }}
{{- end -}}
