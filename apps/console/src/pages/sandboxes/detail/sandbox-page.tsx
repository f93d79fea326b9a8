import { NotFoundError } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Pause, Play, Square } from 'lucide-react';
import type { ReactNode } from 'react';
import { sandboxQuery, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Page, Panel } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { TabLinks } from '../../../ui/tab-links.tsx';
import styles from './detail.module.css';
import { FaultNote } from './fault-note.tsx';
import { statusWords } from './sandbox-words.ts';
import { useLiveSandboxes } from './use-live-sandboxes.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';

const TABS = [
  ['terminal', 'Terminal', paths.sandbox],
  ['files', 'Files', paths.sandboxFiles],
  ['metrics', 'Metrics', paths.sandboxMetrics],
  ['snapshots', 'Snapshots', paths.sandboxSnapshots],
  ['ports', 'Ports', paths.sandboxPorts],
  ['events', 'Events', paths.sandboxEvents],
  ['settings', 'Settings', paths.sandboxSettings],
] as const;

export interface SandboxPageProps {
  current: (typeof TABS)[number][0];
  actions?: ReactNode;
  width?: 'normal' | 'narrow';
  children: (sandbox: Sandbox) => ReactNode;
}

/** The sandbox that the URL names. */
export function useSandboxId(): string {
  const { sandbox } = useParams({ strict: false });
  if (sandbox === undefined) throw new Error('the page has no sandbox in its path');
  return sandbox;
}

/** The frame of all pages of one sandbox, with its state as it is now. */
export function SandboxPage({ current, actions, width = 'normal', children }: SandboxPageProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const id = useSandboxId();
  const sandbox = useQuery(sandboxQuery(api, workspace, id));
  useLiveSandboxes(id);
  const params = { workspace: workspace.uuid, sandbox: id };
  const { data } = sandbox;
  const gone = sandbox.error instanceof NotFoundError;
  return (
    <Page
      title={data?.name ?? 'Sandbox'}
      parent={{ label: 'Sandboxes', link: { to: paths.sandboxes, params: { workspace: workspace.uuid } } }}
      description={data === undefined ? <Skeleton width="14rem" /> : <Description sandbox={data} />}
      actions={
        data !== undefined &&
        !gone && (
          <>
            {actions}
            {mayWrite(workspace) && <StartOrStop sandbox={data} />}
          </>
        )
      }
      width={width}
      navigation={
        <TabLinks
          label="Sandbox"
          tabs={TABS.map(([tab, label, to]) => ({ label, link: { to, params }, current: tab === current }))}
        />
      }
    >
      {gone ? (
        <Panel padded={false}>
          <EmptyState title="Sandbox not found">It may have been deleted.</EmptyState>
        </Panel>
      ) : data === undefined ? (
        sandbox.isError ? (
          <ErrorState error={sandbox.error} onRetry={() => void sandbox.refetch()} />
        ) : (
          <Skeleton width="100%" height="20rem" />
        )
      ) : (
        <>
          <FaultNote sandbox={data} />
          {children(data)}
        </>
      )}
    </Page>
  );
}

function Description({ sandbox }: { sandbox: Sandbox }) {
  const { word, tone, live } = statusWords(sandbox);
  const { cpu, memory_mb: memoryMb } = sandbox.resources;
  return (
    <span className={styles['title']}>
      <Status tone={tone} live={live}>
        {word}
      </Status>
      <span>{sandbox.image}</span>
      <span>
        {cpu} CPU, {formatBytes(memoryMb * 1024 ** 2)}
      </span>
    </span>
  );
}

function StartOrStop({ sandbox }: { sandbox: Sandbox }) {
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
      {sandbox.status === 'running' && (
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
