import { getRouteApi } from '@tanstack/react-router';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { NotRunning } from '../detail/not-running.tsx';
import { isAwake } from '../detail/sandbox-labels.ts';
import { FileBrowser } from './file-browser.tsx';

const route = getRouteApi('/shell/w/$workspace/sandboxes/$sandbox/files');

/** The files of a sandbox. */
export function FilesPage() {
  const sandbox = useSandbox();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  if (!isAwake(sandbox)) return <NotRunning sandbox={sandbox} what="the file browser" />;
  return (
    <FileBrowser
      owner={{ kind: 'sandbox', id: sandbox.id }}
      search={search}
      onGo={(next, options) => void navigate({ search: next, resetScroll: false, ...options })}
    />
  );
}
