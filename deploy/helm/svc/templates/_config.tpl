{{- define "svc.consoleHosts" -}}
{{- if .Values.ingress.enabled }}{{ toJson .Values.ingress.console.hosts }}{{ else if .Values.gateway.enabled }}{{ toJson .Values.gateway.console.hosts }}{{ else }}[]{{ end -}}
{{- end -}}

{{- define "svc.s3Hosts" -}}
{{- if .Values.ingress.enabled }}{{ toJson .Values.ingress.s3.hosts }}{{ else if .Values.gateway.enabled }}{{ toJson .Values.gateway.s3.hosts }}{{ else }}[]{{ end -}}
{{- end -}}

{{- define "svc.scheme" -}}
{{- if .Values.ingress.enabled }}{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}{{ else }}{{ ternary "https" "http" .Values.gateway.tls }}{{ end -}}
{{- end -}}

{{- /* Hosts without a wildcard, below which buckets are names of their own. */ -}}
{{- define "svc.s3Domains" -}}
{{- $domains := list -}}
{{- range include "svc.s3Hosts" . | fromJsonArray -}}{{- $domains = append $domains (trimPrefix "*." .) -}}{{- end -}}
{{- toJson (uniq $domains) -}}
{{- end -}}

{{- /* Not empty if sandboxes run as pods, for which the platform calls this cluster's API. */ -}}
{{- define "svc.runsSandboxes" -}}
{{- if has "sandboxes" .Values.services }}true{{ end -}}
{{- end -}}

{{- define "svc.sandboxesConfig" -}}
{{- $values := .Values.sandboxes -}}
{{- $kubernetes := dict "namespace" $values.namespace "helper_image" (default (include "svc.image" .) $values.helperImage) -}}
{{- with $values.pullSecret }}{{ $_ := set $kubernetes "pull_secret" . }}{{ end -}}
{{- with $values.runtimeClass }}{{ $_ := set $kubernetes "runtime_class" . }}{{ end -}}
{{- with $values.gvisorRuntimeClass }}{{ $_ := set $kubernetes "gvisor_runtime_class" . }}{{ end -}}
{{- with $values.storageClass }}{{ $_ := set $kubernetes "storage_class" . }}{{ end -}}
{{- with $values.gpuResource }}{{ $_ := set $kubernetes "gpu_resource" . }}{{ end -}}
{{- toJson (dict "driver" "kubernetes" "nameservers" $values.nameservers "kubernetes" $kubernetes) -}}
{{- end -}}

{{- /* Refuses values that would start replicas which cannot be one platform. */ -}}
{{- define "svc.validate" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if not .Values.database.existingSecret }}{{ fail "database.existingSecret is required with more than one replica: SQLite is the file of one process" }}{{ end -}}
{{- if ne .Values.objectStore.engine "s3" }}{{ fail "objectStore.engine must be s3 with more than one replica: files in a volume belong to one process" }}{{ end -}}
{{- if not .Values.masterKey.existingSecret }}{{ fail "masterKey.existingSecret is required with more than one replica: all replicas share one master key" }}{{ end -}}
{{- end -}}
{{- if eq .Values.objectStore.engine "s3" -}}
{{- if not .Values.objectStore.s3.bucket }}{{ fail "objectStore.s3.bucket is required with objectStore.engine s3" }}{{ end -}}
{{- if not .Values.objectStore.s3.existingSecret }}{{ fail "objectStore.s3.existingSecret is required with objectStore.engine s3" }}{{ end -}}
{{- end -}}
{{- if include "svc.runsSandboxes" . -}}
{{- if not .Values.persistence.enabled }}{{ fail "persistence.enabled is required with sandboxes: the volume holds the id of the replica that its sandboxes belong to" }}{{ end -}}
{{- if .Values.autoscaling.enabled }}{{ fail "autoscaling.enabled is refused with sandboxes: a replica that goes would strand its sandboxes" }}{{ end -}}
{{- if eq .Values.sandboxes.namespace .Release.Namespace }}{{ fail "sandboxes.namespace must not be the platform's own: its pods could use the platform's Secrets" }}{{ end -}}
{{- if and .Values.sandboxes.rbac.create (eq (include "svc.serviceAccount" .) "default") }}{{ fail "serviceAccount.name is required with sandboxes: every pod of the namespace without an account of its own would have the rights of the account default" }}{{ end -}}
{{- end -}}
{{- if and .Values.ingress.enabled .Values.gateway.enabled }}{{ fail "ingress.enabled and gateway.enabled exclude each other" }}{{ end -}}
{{- end -}}

{{- /* The platform's configuration file. Secrets are never in it: the pod reads them from mounted files. */ -}}
{{- define "svc.config" -}}
{{- $values := .Values -}}
{{- $config := dict
  "services" $values.services
  "trusted_proxies" $values.trustedProxies
  "owner" (dict "email" $values.owner.email)
  "database" (dict "max_connections" $values.database.maxConnections)
  "metrics" (dict "port" 9464 "host" "0.0.0.0")
  "internal" (dict "listen" "0.0.0.0:4300")
  "object_store" (dict "engine" $values.objectStore.engine) -}}
{{- $consoleHosts := include "svc.consoleHosts" . | fromJsonArray -}}
{{- $domains := include "svc.s3Domains" . | fromJsonArray -}}
{{- $scheme := include "svc.scheme" . -}}
{{- if $values.publicUrl -}}{{- $_ := set $config "public_url" $values.publicUrl -}}
{{- else if $consoleHosts -}}{{- $_ := set $config "public_url" (printf "%s://%s" $scheme (first $consoleHosts)) -}}{{- end -}}
{{- if $values.s3PublicUrl -}}{{- $_ := set $config "s3_public_url" $values.s3PublicUrl -}}
{{- else if $domains -}}{{- $_ := set $config "s3_public_url" (printf "%s://%s" $scheme (first $domains)) -}}{{- end -}}
{{- if $domains -}}{{- $_ := set $config.object_store "domains" $domains -}}{{- end -}}
{{- if eq $values.objectStore.engine "s3" -}}
{{- $s3 := dict "bucket" $values.objectStore.s3.bucket "region" $values.objectStore.s3.region "prefix" $values.objectStore.s3.prefix -}}
{{- with $values.objectStore.s3.endpoint }}{{ $_ := set $s3 "endpoint" . }}{{ end -}}
{{- $_ := set $config.object_store "s3" $s3 -}}
{{- end -}}
{{- if include "svc.runsSandboxes" . -}}
{{- $_ := set $config "sandboxes" (include "svc.sandboxesConfig" . | fromJson) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $config (deepCopy $values.config)) -}}
{{- end -}}

{{- /* Sources of the projected volume: each Secret is named by the values, never made by the chart. */ -}}
{{- define "svc.secretSources" -}}
{{- if .Values.masterKey.existingSecret }}
- secret:
    name: {{ .Values.masterKey.existingSecret }}
    items: [{ key: {{ .Values.masterKey.key }}, path: master-key }]
{{- end }}
{{- if .Values.database.existingSecret }}
- secret:
    name: {{ .Values.database.existingSecret }}
    items: [{ key: {{ .Values.database.key }}, path: database-url }]
{{- end }}
{{- if .Values.owner.existingSecret }}
- secret:
    name: {{ .Values.owner.existingSecret }}
    items: [{ key: {{ .Values.owner.key }}, path: owner-password }]
{{- end }}
{{- if eq .Values.objectStore.engine "s3" }}
- secret:
    name: {{ .Values.objectStore.s3.existingSecret }}
    items: [{ key: secret-access-key, path: engine-secret-key }]
{{- end }}
{{- end -}}
