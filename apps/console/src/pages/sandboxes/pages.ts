export { FilesPage } from './files/files-page.tsx';
export { SandboxesPage } from './list/sandboxes-page.tsx';
export { SandboxSettingsPage } from './settings/settings-page.tsx';
