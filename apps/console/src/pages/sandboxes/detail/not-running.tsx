import { Moon, Pause, Play } from 'lucide-react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import styles from './detail.module.css';
import { ImageProgressBar } from './image-progress.tsx';
import { reasonLabel } from './sandbox-labels.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';

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
