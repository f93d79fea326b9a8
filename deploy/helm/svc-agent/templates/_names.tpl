{{- define "svc-agent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc-agent.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "svc-agent.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Roles that hold for the cluster have no namespace to tell two releases apart. */ -}}
{{- define "svc-agent.clusterName" -}}
{{- if eq .Release.Namespace "svc-system" -}}
{{- include "svc-agent.fullname" . -}}
{{- else -}}
{{- printf "%s-%s" .Release.Namespace (include "svc-agent.fullname" .) | trunc 253 -}}
{{- end -}}
{{- end -}}

{{- define "svc-agent.selector" -}}
app.kubernetes.io/name: {{ include "svc-agent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc-agent.labels" -}}
{{ include "svc-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "svc-agent.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "svc-agent.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "svc-agent.secret" -}}
{{- default (printf "%s-token" (include "svc-agent.fullname" .)) .Values.svc.existingSecret -}}
{{- end -}}

{{- define "svc-agent.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
