{{- /* The agent's configuration file. What the profile does not permit is refused by the agent as well, with a better word than Kubernetes has. */ -}}
{{- define "svc-agent.config" -}}
{{- $values := .Values -}}
{{- $config := dict
  "agent" (dict "labels" $values.agent.labels)
  "svc" (dict "token_file" "/etc/svc/token")
  "policy" (dict) -}}
{{- if not $values.agent.existingConfigMap -}}
{{- $_ := set $config.agent "cluster_name" $values.agent.clusterName -}}
{{- $_ := set $config.svc "api_url" $values.svc.apiUrl -}}
{{- with $values.agent.clusterId }}{{ $_ := set $config.svc "cluster_id" . }}{{ end -}}
{{- end -}}
{{- if or $values.svc.ca.configMap $values.svc.ca.secret -}}
{{- $_ := set $config.svc "tls" (dict "ca_cert" (printf "/etc/svc/ca/%s" $values.svc.ca.key)) -}}
{{- end -}}
{{- if $values.rbac.create -}}
{{- if eq $values.rbac.profile "observer" }}{{ $_ := set $config.policy "read_only" true }}{{ end -}}
{{- if has $values.rbac.profile (list "observer" "deployer") }}{{ $_ := set $config.policy "exec" false }}{{ end -}}
{{- with $values.rbac.namespaces }}{{ $_ := set $config.policy "namespaces" . }}{{ end -}}
{{- if and $values.rbac.namespaces (not $values.rbac.watchCluster) }}{{ $_ := set $config "kubernetes" (dict "namespaces" $values.rbac.namespaces) }}{{ end -}}
{{- end -}}
{{- with $values.sandboxes -}}
{{- if .enabled -}}
{{- if and $values.rbac.create (eq $values.rbac.profile "observer") }}{{ fail "sandboxes.enabled needs rbac.profile deployer, operator or admin: an observer changes nothing" }}{{ end -}}
{{- $sandboxes := dict "enabled" true "namespace" .namespace "helper_image" .helperImage "user_namespaces" .userNamespaces "nameservers" .nameservers "denied_networks" .deniedNetworks "network_policies" .networkPolicies -}}
{{- with .pullSecret }}{{ $_ := set $sandboxes "pull_secret" . }}{{ end -}}
{{- with .runtimeClass }}{{ $_ := set $sandboxes "runtime_class" . }}{{ end -}}
{{- with .gvisorRuntimeClass }}{{ $_ := set $sandboxes "gvisor_runtime_class" . }}{{ end -}}
{{- with .storageClass }}{{ $_ := set $sandboxes "storage_class" . }}{{ end -}}
{{- $_ := set $config "sandboxes" $sandboxes -}}
{{- $_ := set $config "tunnel" (dict "enabled" true) -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $config (deepCopy $values.config)) -}}
{{- end -}}
