import { Search } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { FindBar } from '../../../terminal/find-bar.tsx';
import styles from '../../../terminal/terminal.module.css';
import { Status } from '../../../ui/badge.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { describeError } from '../../../ui/describe-error.ts';
import { useShell, type ShellState, type ShellWish } from './use-shell.ts';

export interface ShellViewProps {
  wish: ShellWish;
  /** Content at the start of the bar. */
  children: ReactNode;
  onNew: () => void;
}

export function ShellView({ wish, children, onNew }: ShellViewProps) {
  const [finding, setFinding] = useState(false);
  const findButton = useRef<HTMLButtonElement>(null);
  const { place, screen, state } = useShell({
    wish,
    onFind: () => setFinding(true),
    onLeave: () => findButton.current?.focus(),
  });
  const closeFind = (): void => {
    setFinding(false);
    screen?.find('', 'next');
    screen?.focus();
  };
  const ending = describeEnding(state);
  return (
    <section className={styles['terminal']} aria-label="Terminal" data-state={state.kind}>
      <div className={styles['bar']}>
        <div className={styles['sessions']}>{children}</div>
        <IconButton ref={findButton} label="Find (Ctrl+Shift+F)" size="small" onClick={() => setFinding(!finding)}>
          <Search size={15} />
        </IconButton>
      </div>
      <div className={styles['body']}>
        <div ref={place} className={styles['place']} />
        {finding && screen !== null && <FindBar screen={screen} onClose={closeFind} />}
        {state.kind === 'connecting' && (
          <div className={styles['state']} role="status">
            <Status tone="warn" live>
              Opening shell…
            </Status>
          </div>
        )}
        {ending !== null && (
          <div className={styles['ended']} role="status">
            <span>{ending}</span>
            <Button size="small" onClick={onNew}>
              New shell
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

/** Why output has ended; null while more may follow. */
function describeEnding(state: ShellState): string | null {
  if (state.kind === 'failed') return describeError(state.error);
  return state.kind === 'ended' ? `The shell ended with exit code ${state.exitCode}.` : null;
}
