export { DeploymentPage } from './deployments/deployment-page.tsx';
export { DeploymentsPage } from './deployments/deployments-page.tsx';
export { ClusterEventsPage } from './events/events-page.tsx';
export { ClustersPage } from './list/clusters-page.tsx';
export { ClusterOverviewPage } from './overview/overview-page.tsx';
export { ClusterSettingsPage } from './settings/settings-page.tsx';
