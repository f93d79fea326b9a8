import { parseAuditSearch } from '../pages/audit/audit-search.ts';
import { parseDeploymentsSearch } from '../pages/clusters/deployments/deployments-search.ts';
import { parseEventsSearch } from '../pages/clusters/events/events-search.ts';
import { parseObjectsSearch as parseClusterObjectsSearch } from '../pages/clusters/objects/objects-search.ts';
import { parseHistorySearch } from '../pages/clusters/overview/history-search.ts';
import { parseObjectsSearch } from '../pages/object-store/browser/objects-search.ts';
import { parseUsageSearch } from '../pages/object-store/usage/usage-search.ts';
import { parseFilesSearch } from '../pages/sandboxes/files/files-search.ts';
import { parseSandboxesSearch } from '../pages/sandboxes/list/sandboxes-search.ts';
import { parseMetricsSearch } from '../pages/sandboxes/metrics/metrics-series.ts';
import { parseTerminalSearch } from '../pages/sandboxes/terminal/terminal-search.ts';
import { bucketLayout, clusterLayout, sandboxLayout, teamLayout, workspaceLayout } from './layout-routes.tsx';
import { noSearch, pagesBelow } from './page-route.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

const accountPage = pagesBelow(shell, '');
const teamPage = pagesBelow(teamLayout, paths.teamMembers);
const workspacePage = pagesBelow(workspaceLayout, paths.workspace);
const bucketPage = pagesBelow(bucketLayout, paths.bucket);
const sandboxPage = pagesBelow(sandboxLayout, paths.sandbox);
const clusterPage = pagesBelow(clusterLayout, paths.cluster);

// One line per page: its URL, which `paths.ts` names, its component, and the parser of its search.
// oxfmt-ignore
export const accountPages = [
  accountPage(paths.teams, () => import('../pages/teams/teams-page.tsx'), 'TeamsPage', noSearch),
  accountPage(paths.nodes, () => import('../pages/nodes/nodes-page.tsx'), 'NodesPage', noSearch),
  accountPage(paths.account, () => import('../pages/account/account-page.tsx'), 'AccountPage', noSearch),
  accountPage(paths.tokens, () => import('../pages/account/tokens-page.tsx'), 'TokensPage', parseCreateSearch),
  accountPage(paths.sshKeys, () => import('../pages/account/ssh-keys-page.tsx'), 'SshKeysPage', parseCreateSearch),
] as const;

// oxfmt-ignore
export const teamPages = [
  teamPage(paths.teamMembers, () => import('../pages/teams/members-page.tsx'), 'MembersPage', noSearch),
  teamPage(paths.teamInvitations, () => import('../pages/teams/invitations-page.tsx'), 'InvitationsPage', noSearch),
  teamPage(paths.teamSettings, () => import('../pages/teams/team-settings-page.tsx'), 'TeamSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const workspacePages = [
  workspacePage(paths.workspace, () => import('../pages/overview/overview-page.tsx'), 'OverviewPage', noSearch),
  workspacePage(paths.audit, () => import('../pages/audit/audit-page.tsx'), 'AuditPage', parseAuditSearch),
  workspacePage(paths.workspaceSettings, () => import('../pages/workspace/workspace-settings-page.tsx'), 'WorkspaceSettingsPage', noSearch),
  workspacePage(paths.buckets, () => import('../pages/object-store/buckets/buckets-page.tsx'), 'BucketsPage', parseCreateSearch),
  workspacePage(paths.deletedBuckets, () => import('../pages/object-store/buckets/deleted-buckets-page.tsx'), 'DeletedBucketsPage', noSearch),
  workspacePage(paths.usage, () => import('../pages/object-store/usage/usage-page.tsx'), 'UsagePage', parseUsageSearch),
  workspacePage(paths.accessKeys, () => import('../pages/object-store/keys/keys-page.tsx'), 'KeysPage', parseCreateSearch),
  workspacePage(paths.sandboxes, () => import('../pages/sandboxes/list/sandboxes-page.tsx'), 'SandboxesPage', parseSandboxesSearch),
  workspacePage(paths.snapshots, () => import('../pages/sandboxes/snapshots/all-snapshots-page.tsx'), 'AllSnapshotsPage', noSearch),
  workspacePage(paths.volumes, () => import('../pages/sandboxes/volumes/volumes-page.tsx'), 'VolumesPage', noSearch),
  workspacePage(paths.volume, () => import('../pages/sandboxes/volumes/volume-page.tsx'), 'VolumePage', parseFilesSearch),
  workspacePage(paths.secrets, () => import('../pages/sandboxes/secrets/secrets-page.tsx'), 'SecretsPage', parseCreateSearch),
  workspacePage(paths.templates, () => import('../pages/sandboxes/templates/templates-page.tsx'), 'TemplatesPage', noSearch),
  workspacePage(paths.template, () => import('../pages/sandboxes/templates/template-page.tsx'), 'TemplatePage', noSearch),
  workspacePage(paths.webhooks, () => import('../pages/sandboxes/webhooks/webhooks-page.tsx'), 'WebhooksPage', noSearch),
  workspacePage(paths.clusters, () => import('../pages/clusters/list/clusters-page.tsx'), 'ClustersPage', parseCreateSearch),
] as const;

// oxfmt-ignore
export const bucketPages = [
  bucketPage(paths.bucket, () => import('../pages/object-store/browser/objects-page.tsx'), 'ObjectsPage', parseObjectsSearch),
  bucketPage(paths.bucketLifecycle, () => import('../pages/object-store/lifecycle/lifecycle-page.tsx'), 'LifecyclePage', noSearch),
  bucketPage(paths.bucketDomains, () => import('../pages/object-store/domains/domains-page.tsx'), 'DomainsPage', noSearch),
  bucketPage(paths.bucketUsage, () => import('../pages/object-store/usage/bucket-usage-page.tsx'), 'BucketUsagePage', parseUsageSearch),
  bucketPage(paths.bucketSettings, () => import('../pages/object-store/settings/bucket-settings-page.tsx'), 'BucketSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const sandboxPages = [
  sandboxPage(paths.sandbox, () => import('../pages/sandboxes/terminal/terminal-page.tsx'), 'TerminalPage', parseTerminalSearch),
  sandboxPage(paths.sandboxFiles, () => import('../pages/sandboxes/files/files-page.tsx'), 'FilesPage', parseFilesSearch),
  sandboxPage(paths.sandboxMetrics, () => import('../pages/sandboxes/metrics/metrics-page.tsx'), 'MetricsPage', parseMetricsSearch),
  sandboxPage(paths.sandboxSnapshots, () => import('../pages/sandboxes/snapshots/snapshots-page.tsx'), 'SnapshotsPage', noSearch),
  sandboxPage(paths.sandboxPorts, () => import('../pages/sandboxes/ports/ports-page.tsx'), 'PortsPage', noSearch),
  sandboxPage(paths.sandboxEvents, () => import('../pages/sandboxes/events/events-page.tsx'), 'EventsPage', noSearch),
  sandboxPage(paths.sandboxSettings, () => import('../pages/sandboxes/settings/settings-page.tsx'), 'SandboxSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const clusterPages = [
  clusterPage(paths.cluster, () => import('../pages/clusters/overview/cluster-overview-page.tsx'), 'ClusterOverviewPage', parseHistorySearch),
  clusterPage(paths.clusterNodes, () => import('../pages/clusters/objects/nodes-page.tsx'), 'NodesPage', parseClusterObjectsSearch),
  clusterPage(paths.clusterWorkloads, () => import('../pages/clusters/objects/workloads-page.tsx'), 'WorkloadsPage', parseClusterObjectsSearch),
  clusterPage(paths.clusterPods, () => import('../pages/clusters/objects/pods-page.tsx'), 'PodsPage', parseClusterObjectsSearch),
  clusterPage(paths.clusterPod, () => import('../pages/clusters/pod/pod-logs-page.tsx'), 'PodLogsPage', noSearch),
  clusterPage(paths.clusterPodShell, () => import('../pages/clusters/pod/pod-shell-page.tsx'), 'PodShellPage', noSearch),
  clusterPage(paths.clusterDeployments, () => import('../pages/clusters/deployments/deployments-page.tsx'), 'DeploymentsPage', parseDeploymentsSearch),
  clusterPage(paths.clusterDeployment, () => import('../pages/clusters/deployments/deployment-page.tsx'), 'DeploymentPage', noSearch),
  clusterPage(paths.clusterDeploy, () => import('../pages/clusters/deploy/deploy-page.tsx'), 'DeployPage', noSearch),
  clusterPage(paths.clusterEvents, () => import('../pages/clusters/events/events-page.tsx'), 'ClusterEventsPage', parseEventsSearch),
  clusterPage(paths.clusterSettings, () => import('../pages/clusters/settings/settings-page.tsx'), 'ClusterSettingsPage', noSearch),
] as const;

interface CreateSearch {
  /** True while the page's create dialog is open, so that a link can open it. */
  create?: true;
}

function parseCreateSearch(search: Record<string, unknown>): CreateSearch {
  return search['create'] === true ? { create: true } : {};
}
