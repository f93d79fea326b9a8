export { AllSnapshotsPage } from './snapshots/all-snapshots-page.tsx';
export { EventsPage } from './events/events-page.tsx';
export { FilesPage } from './files/files-page.tsx';
export { SandboxesPage } from './list/sandboxes-page.tsx';
export { MetricsPage } from './metrics/metrics-page.tsx';
export { PortsPage } from './ports/ports-page.tsx';
export { SandboxSettingsPage } from './settings/settings-page.tsx';
export { SnapshotsPage } from './snapshots/snapshots-page.tsx';
