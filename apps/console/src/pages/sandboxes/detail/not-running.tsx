import { Moon, Pause, Play } from 'lucide-react';
import type { Sandbox, ImageProgress } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import styles from './detail.module.css';
import { reasonLabel } from './sandbox-labels.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { ProgressBar } from '../../../ui/progress-bar.tsx';

const STAGES: Readonly<Record<string, string>> = {
  resolving: 'Resolving image',
  downloading: 'Downloading image',
  unpacking: 'Unpacking image',
  building: 'Building image',
};

export interface NotRunningProps {
  sandbox: Sandbox;
  /** The hidden part, such as `the terminal`. */
  what: string;
}

/** Shown instead of anything that requires a running sandbox. Never accesses a paused one, which would resume it. */
export function NotRunning({ sandbox, what }: NotRunningProps) {
  // The error is already shown above, with its own button.
  if (sandbox.status === 'error') return null;
  return (
    <Panel padded={false}>
      {sandbox.status === 'creating' ? (
        <Starting sandbox={sandbox} />
      ) : sandbox.paused_at !== null ? (
        <Paused sandbox={sandbox} what={what} />
      ) : (
        <Stopped sandbox={sandbox} what={what} />
      )}
    </Panel>
  );
}

function Starting({ sandbox }: Pick<NotRunningProps, 'sandbox'>) {
  if (sandbox.image_progress === null) {
    return <EmptyState title="Starting the sandbox">This page updates automatically.</EmptyState>;
  }
  return (
    <div className={styles['waiting']} role="status">
      <ImageProgressBar progress={sandbox.image_progress} />
    </div>
  );
}

function Paused({ sandbox, what }: NotRunningProps) {
  const workspace = useWorkspace();
  const { resume } = useSandboxActions();
  return (
    <EmptyState
      icon={<Pause size={18} />}
      title="The sandbox is paused"
      action={
        mayWrite(workspace) && (
          <Button
            variant="primary"
            icon={<Play size={15} />}
            pending={resume.isPending}
            onClick={() => resume.mutate(sandbox)}
          >
            Resume
          </Button>
        )
      }
    >
      Resume the sandbox to use {what}. Its processes continue where they stopped.
    </EmptyState>
  );
}

function Stopped({ sandbox, what }: NotRunningProps) {
  const workspace = useWorkspace();
  const { start } = useSandboxActions();
  const reason = reasonLabel(sandbox.state_reason);
  return (
    <EmptyState
      icon={<Moon size={18} />}
      title="The sandbox is stopped"
      action={
        mayWrite(workspace) && (
          <Button
            variant="primary"
            icon={<Play size={15} />}
            pending={start.isPending}
            onClick={() => start.mutate(sandbox)}
          >
            Start
          </Button>
        )
      }
    >
      {reason === null ? '' : `${reason}. `}
      Start the sandbox to use {what}. Its files are kept.
    </EmptyState>
  );
}

/** Progress of an image download or build. */
function ImageProgressBar({ progress }: { progress: ImageProgress }) {
  const { stage, source, layers, layers_done: layersDone, bytes, bytes_done: bytesDone } = progress;
  const title = STAGES[stage] ?? 'Preparing image';
  const amount = bytes > 0 ? `${formatBytes(bytesDone)} of ${formatBytes(bytes)}` : null;
  const parts = layers > 0 ? `${layersDone} of ${layers} layers` : null;
  return (
    <div className={styles['progress']}>
      <p className={styles['progressWords']}>
        <span>
          {title} <span className="muted">from {source}</span>
        </span>
        <span className="muted">{[amount, parts].filter((each) => each !== null).join(', ')}</span>
      </p>
      {bytes > 0 && <ProgressBar label={title} share={bytesDone / bytes} />}
    </div>
  );
}
