import { NotFoundError } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { Pause, Play, Square } from 'lucide-react';
import { createContext, useContext } from 'react';
import { scopeOf } from '../api/queries.ts';
import { createSandboxesClient, sandboxQuery, useSandboxes } from '../api/sandboxes.ts';
import type { Sandbox } from '../api/sandbox-types.ts';
import { FaultNote } from '../pages/sandboxes/detail/fault-note.tsx';
import { statusLabel } from '../pages/sandboxes/detail/sandbox-labels.ts';
import { useLiveSandboxes } from '../pages/sandboxes/detail/use-live-sandboxes.ts';
import { useMissingCapabilities } from '../pages/sandboxes/detail/use-missing-capabilities.ts';
import { useSandboxActions } from '../pages/sandboxes/detail/use-sandbox-actions.ts';
import { requireResource, type RouterContext } from '../routes/guards.ts';
import { paths } from '../routes/paths.ts';
import { mayWrite } from '../session/administers.ts';
import { useWorkspace } from '../session/use-session.ts';
import { Status } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FactLine } from '../ui/fact-line.tsx';
import { formatBytes } from '../ui/format-bytes.ts';
import { ErrorState, LoadingRegion, Skeleton } from '../ui/states.tsx';
import { MissingPage } from './missing-page.tsx';
import { TabbedPage, type Tab } from './tabbed-page.tsx';

const TABS: readonly Tab[] = [
  { label: 'Terminal', to: paths.sandbox },
  { label: 'Files', to: paths.sandboxFiles },
  { label: 'Metrics', to: paths.sandboxMetrics },
  { label: 'Snapshots', to: paths.sandboxSnapshots },
  { label: 'Ports', to: paths.sandboxPorts, narrow: true },
  { label: 'Events', to: paths.sandboxEvents },
  { label: 'Settings', to: paths.sandboxSettings, narrow: true },
];

export function loadSandbox(context: RouterContext, params: { workspace: string; sandbox: string }): Promise<void> {
  return requireResource(context, params.workspace, async (workspace) => {
    const api = createSandboxesClient(context.svc, scopeOf(workspace));
    await context.queryClient.ensureQueryData(sandboxQuery(api, workspace, params.sandbox));
  });
}

const SandboxContext = createContext<Sandbox | null>(null);

/** The sandbox in the URL with its live state; for pages below the layout. */
export function useSandbox(): Sandbox {
  const sandbox = useContext(SandboxContext);
  if (sandbox === null) throw new Error('useSandbox outside of SandboxLayout');
  return sandbox;
}

export function SandboxLayout() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { sandbox: id = '' } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(sandboxQuery(api, workspace, id));
  const missing = useMissingCapabilities();
  useLiveSandboxes(id);
  if (error instanceof NotFoundError) return <MissingSandbox />;
  return (
    <TabbedPage
      title={data?.name ?? 'Sandbox'}
      parent={{ label: 'Sandboxes', link: { to: paths.sandboxes, params: { workspace: workspace.uuid } } }}
      description={data === undefined ? <Skeleton width="14rem" /> : <Description sandbox={data} />}
      actions={
        data !== undefined && mayWrite(workspace) && <StateActions sandbox={data} canPause={!missing.has('pause')} />
      }
      label="Sandbox"
      tabs={missing.has('snapshots') ? TABS.filter(({ to }) => to !== paths.sandboxSnapshots) : TABS}
      params={{ workspace: workspace.uuid, sandbox: id }}
    >
      {data !== undefined ? (
        <SandboxContext value={data}>
          <FaultNote sandbox={data} />
          <Outlet />
        </SandboxContext>
      ) : error === null ? (
        <LoadingRegion height="20rem" />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </TabbedPage>
  );
}

export function MissingSandbox() {
  const params = { workspace: useWorkspace().uuid };
  return <MissingPage what="Sandbox" parent={{ label: 'Sandboxes', link: { to: paths.sandboxes, params } }} />;
}

function Description({ sandbox }: { sandbox: Sandbox }) {
  const { label, tone, live } = statusLabel(sandbox);
  const { cpu, memory_mb: memoryMb } = sandbox.resources;
  return (
    <FactLine>
      <Status tone={tone} live={live}>
        {label}
      </Status>
      <span>{sandbox.image}</span>
      <span>
        {cpu} CPU, {formatBytes(memoryMb * 1024 ** 2)}
      </span>
    </FactLine>
  );
}

function StateActions({ sandbox, canPause }: { sandbox: Sandbox; canPause: boolean }) {
  const { start, stop, pause, resume } = useSandboxActions();
  if (sandbox.status === 'error') return null;
  if (sandbox.status === 'stopped') {
    return (
      <Button icon={<Play size={15} />} pending={start.isPending} onClick={() => start.mutate(sandbox)}>
        Start
      </Button>
    );
  }
  const isPaused = sandbox.paused_at !== null;
  return (
    <>
      {sandbox.status === 'running' && canPause && (
        <Button
          icon={isPaused ? <Play size={14} /> : <Pause size={14} />}
          pending={pause.isPending || resume.isPending}
          onClick={() => (isPaused ? resume : pause).mutate(sandbox)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      <Button icon={<Square size={14} />} pending={stop.isPending} onClick={() => stop.mutate(sandbox)}>
        Stop
      </Button>
    </>
  );
}
