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
import { noSearch, pageRoute } from './page-route.ts';
import { shell } from './shell-route.tsx';

// One line per page: layout, path below it, component, search. The absolute path is in `paths.ts`.
// oxfmt-ignore
export const accountPages = [
  pageRoute(shell, '/teams', () => import('../pages/teams/teams-page.tsx'), 'TeamsPage', noSearch),
  pageRoute(shell, '/account', () => import('../pages/account/account-page.tsx'), 'AccountPage', noSearch),
  pageRoute(shell, '/account/tokens', () => import('../pages/account/tokens-page.tsx'), 'TokensPage', parseCreateSearch),
] as const;

// oxfmt-ignore
export const teamPages = [
  pageRoute(teamLayout, '/', () => import('../pages/teams/members-page.tsx'), 'MembersPage', noSearch),
  pageRoute(teamLayout, 'invitations', () => import('../pages/teams/invitations-page.tsx'), 'InvitationsPage', noSearch),
  pageRoute(teamLayout, 'settings', () => import('../pages/teams/team-settings-page.tsx'), 'TeamSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const workspacePages = [
  pageRoute(workspaceLayout, '/', () => import('../pages/overview/overview-page.tsx'), 'OverviewPage', noSearch),
  pageRoute(workspaceLayout, 'audit', () => import('../pages/audit/audit-page.tsx'), 'AuditPage', parseAuditSearch),
  pageRoute(workspaceLayout, 'settings', () => import('../pages/workspace/workspace-settings-page.tsx'), 'WorkspaceSettingsPage', noSearch),
  pageRoute(workspaceLayout, 'buckets', () => import('../pages/object-store/buckets/buckets-page.tsx'), 'BucketsPage', parseCreateSearch),
  pageRoute(workspaceLayout, 'deleted-buckets', () => import('../pages/object-store/buckets/deleted-buckets-page.tsx'), 'DeletedBucketsPage', noSearch),
  pageRoute(workspaceLayout, 'usage', () => import('../pages/object-store/usage/usage-page.tsx'), 'UsagePage', parseUsageSearch),
  pageRoute(workspaceLayout, 'keys', () => import('../pages/object-store/keys/keys-page.tsx'), 'KeysPage', parseCreateSearch),
  pageRoute(workspaceLayout, 'sandboxes', () => import('../pages/sandboxes/list/sandboxes-page.tsx'), 'SandboxesPage', parseSandboxesSearch),
  pageRoute(workspaceLayout, 'sandboxes/snapshots', () => import('../pages/sandboxes/snapshots/all-snapshots-page.tsx'), 'AllSnapshotsPage', noSearch),
  pageRoute(workspaceLayout, 'clusters', () => import('../pages/clusters/list/clusters-page.tsx'), 'ClustersPage', parseCreateSearch),
] as const;

// oxfmt-ignore
export const bucketPages = [
  pageRoute(bucketLayout, '/', () => import('../pages/object-store/browser/objects-page.tsx'), 'ObjectsPage', parseObjectsSearch),
  pageRoute(bucketLayout, 'lifecycle', () => import('../pages/object-store/lifecycle/lifecycle-page.tsx'), 'LifecyclePage', noSearch),
  pageRoute(bucketLayout, 'domains', () => import('../pages/object-store/domains/domains-page.tsx'), 'DomainsPage', noSearch),
  pageRoute(bucketLayout, 'usage', () => import('../pages/object-store/usage/bucket-usage-page.tsx'), 'BucketUsagePage', parseUsageSearch),
  pageRoute(bucketLayout, 'settings', () => import('../pages/object-store/settings/bucket-settings-page.tsx'), 'BucketSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const sandboxPages = [
  pageRoute(sandboxLayout, '/', () => import('../pages/sandboxes/terminal/terminal-page.tsx'), 'TerminalPage', parseTerminalSearch),
  pageRoute(sandboxLayout, 'files', () => import('../pages/sandboxes/files/files-page.tsx'), 'FilesPage', parseFilesSearch),
  pageRoute(sandboxLayout, 'metrics', () => import('../pages/sandboxes/metrics/metrics-page.tsx'), 'MetricsPage', parseMetricsSearch),
  pageRoute(sandboxLayout, 'snapshots', () => import('../pages/sandboxes/snapshots/snapshots-page.tsx'), 'SnapshotsPage', noSearch),
  pageRoute(sandboxLayout, 'ports', () => import('../pages/sandboxes/ports/ports-page.tsx'), 'PortsPage', noSearch),
  pageRoute(sandboxLayout, 'events', () => import('../pages/sandboxes/events/events-page.tsx'), 'EventsPage', noSearch),
  pageRoute(sandboxLayout, 'settings', () => import('../pages/sandboxes/settings/settings-page.tsx'), 'SandboxSettingsPage', noSearch),
] as const;

// oxfmt-ignore
export const clusterPages = [
  pageRoute(clusterLayout, '/', () => import('../pages/clusters/overview/cluster-overview-page.tsx'), 'ClusterOverviewPage', parseHistorySearch),
  pageRoute(clusterLayout, 'nodes', () => import('../pages/clusters/objects/nodes-page.tsx'), 'NodesPage', parseClusterObjectsSearch),
  pageRoute(clusterLayout, 'workloads', () => import('../pages/clusters/objects/workloads-page.tsx'), 'WorkloadsPage', parseClusterObjectsSearch),
  pageRoute(clusterLayout, 'pods', () => import('../pages/clusters/objects/pods-page.tsx'), 'PodsPage', parseClusterObjectsSearch),
  pageRoute(clusterLayout, 'pods/$namespace/$pod', () => import('../pages/clusters/pod/pod-logs-page.tsx'), 'PodLogsPage', noSearch),
  pageRoute(clusterLayout, 'pods/$namespace/$pod/shell', () => import('../pages/clusters/pod/pod-shell-page.tsx'), 'PodShellPage', noSearch),
  pageRoute(clusterLayout, 'deployments', () => import('../pages/clusters/deployments/deployments-page.tsx'), 'DeploymentsPage', parseDeploymentsSearch),
  pageRoute(clusterLayout, 'deployments/$deployment', () => import('../pages/clusters/deployments/deployment-page.tsx'), 'DeploymentPage', noSearch),
  pageRoute(clusterLayout, 'deploy', () => import('../pages/clusters/deploy/deploy-page.tsx'), 'DeployPage', noSearch),
  pageRoute(clusterLayout, 'events', () => import('../pages/clusters/events/events-page.tsx'), 'ClusterEventsPage', parseEventsSearch),
  pageRoute(clusterLayout, 'settings', () => import('../pages/clusters/settings/settings-page.tsx'), 'ClusterSettingsPage', noSearch),
] as const;

interface CreateSearch {
  /** True while the page's create dialog is open, so that a link can open it. */
  create?: true;
}

function parseCreateSearch(search: Record<string, unknown>): CreateSearch {
  return search['create'] === true ? { create: true } : {};
}
