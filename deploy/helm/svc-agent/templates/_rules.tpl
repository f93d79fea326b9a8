{{- /* What every profile may look at: no Secrets and no ConfigMaps, which hold what is none of an observer's business. */ -}}
{{- define "svc-agent.rules.look" -}}
- apiGroups: [""]
  resources: [pods, services, endpoints, events, persistentvolumeclaims, replicationcontrollers, resourcequotas, limitranges, serviceaccounts]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets, replicasets, controllerrevisions]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [get, list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [get, list, watch]
- apiGroups: [metrics.k8s.io]
  resources: [pods]
  verbs: [get, list]
{{- end -}}

{{- /* Of the cluster itself. Not nodes/proxy: who may read that runs commands in every container. */ -}}
{{- define "svc-agent.rules.lookAtCluster" -}}
- apiGroups: [""]
  resources: [nodes, namespaces, persistentvolumes]
  verbs: [get, list, watch]
- apiGroups: [metrics.k8s.io]
  resources: [nodes]
  verbs: [get, list]
{{- end -}}

{{- /* Rules that hold in a namespace, by profile; each has those before it. */ -}}
{{- define "svc-agent.rules.namespace" -}}
{{- $profile := .Values.rbac.profile -}}
{{ include "svc-agent.rules.look" . }}
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
{{- if ne $profile "observer" }}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, update, patch, delete]
# By name: what is deployed is compared with what is there.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create, update, patch, delete]
- apiGroups: [""]
  resources: [pods, services, persistentvolumeclaims, serviceaccounts]
  verbs: [create, update, patch, delete]
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets, replicasets]
  verbs: [create, update, patch, delete]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [create, update, patch, delete]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [create, update, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [create, update, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [create, update, patch, delete]
{{- end }}
{{- if has $profile (list "operator" "admin") }}
- apiGroups: [""]
  resources: [pods/exec, pods/attach, pods/portforward]
  verbs: [get, create]
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
- apiGroups: [""]
  resources: [pods/ephemeralcontainers]
  verbs: [patch, update]
- apiGroups: [apps]
  resources: [deployments/scale, statefulsets/scale, replicasets/scale]
  verbs: [get, update, patch]
{{- end }}
{{- if eq $profile "admin" }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [resourcequotas, limitranges]
  verbs: [create, update, patch, delete]
# Without "escalate" and "bind": only what the agent itself may do can be given away.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [get, list, watch, create, update, patch, delete]
{{- end }}
{{- with .Values.rbac.extraRules }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Rules about what belongs to no namespace. */ -}}
{{- define "svc-agent.rules.cluster" -}}
{{ include "svc-agent.rules.lookAtCluster" . }}
{{- if eq .Values.rbac.profile "admin" }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [create, update, patch, delete]
- apiGroups: [""]
  resources: [nodes]
  verbs: [update, patch]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterroles, clusterrolebindings]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [get, list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "svc-agent.rules.impersonation" -}}
{{- with .Values.rbac.impersonation -}}
- apiGroups: [""]
  resources: [users]
  verbs: [impersonate]
  {{- with .users }}
  resourceNames: {{ toJson . }}
  {{- end }}
- apiGroups: [""]
  resources: [groups]
  verbs: [impersonate]
  {{- with .groups }}
  resourceNames: {{ toJson . }}
  {{- end }}
{{- end -}}
{{- end -}}
