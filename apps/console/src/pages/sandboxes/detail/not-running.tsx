import { Moon, Pause, Play } from 'lucide-react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import styles from './detail.module.css';
import { ImageProgressBar } from './image-progress.tsx';
import { reasonWords } from './sandbox-words.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';

/** Shown instead of what needs a running sandbox. A paused one is not touched: any access would resume it. */
export function NotRunning({ sandbox, what }: { sandbox: Sandbox; what: string }) {
  const workspace = useWorkspace();
  const { start, resume } = useSandboxActions();
  if (sandbox.status === 'creating') {
    return (
      <Panel padded={false}>
        {sandbox.image_progress === null ? (
          <EmptyState title="Starting the sandbox">This page updates automatically.</EmptyState>
        ) : (
          <div className={styles['waiting']} role="status">
            <ImageProgressBar progress={sandbox.image_progress} />
          </div>
        )}
      </Panel>
    );
  }
  // The cause of an error stands above already, with its own button.
  if (sandbox.status === 'error') return null;
  if (sandbox.paused_at !== null) {
    return (
      <Panel padded={false}>
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
      </Panel>
    );
  }
  const reason = reasonWords(sandbox.state_reason);
  return (
    <Panel padded={false}>
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
    </Panel>
  );
}
