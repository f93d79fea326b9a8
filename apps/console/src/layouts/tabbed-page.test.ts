import { describe, expect, it } from 'vitest';
import { paths } from '../routes/paths.ts';
import { currentTab, type Tab } from './tabbed-page.tsx';

const TABS: readonly Tab[] = [
  { label: 'Overview', to: paths.cluster },
  { label: 'Pods', to: paths.clusterPods },
  { label: 'Deployments', to: paths.clusterDeployments, also: [paths.clusterDeploy] },
];

describe('the current tab', () => {
  it.each([
    [paths.cluster, 'Overview'],
    [paths.clusterPods, 'Pods'],
    [paths.clusterPodShell, 'Pods'],
    [paths.clusterDeployment, 'Deployments'],
    [paths.clusterDeploy, 'Deployments'],
  ])('of %s is %s', (path, label) => {
    expect(currentTab(TABS, path)?.label).toBe(label);
  });
});
