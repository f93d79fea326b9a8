import { Search } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Status } from '../../../ui/badge.tsx';
import { FindBar } from '../../../terminal/find-bar.tsx';
import { endingOf, type Ending } from './terminal-labels.ts';
import styles from '../../../terminal/terminal.module.css';
import { useTerminal, type TerminalState, type TerminalWish } from './use-terminal.ts';

export interface TerminalViewProps {
  wish: TerminalWish;
  /** The sessions, at the start of the bar. */
  sessions: ReactNode;
  onSession: (session: string) => void;
  onOpen: (wish: Partial<TerminalWish>) => void;
}

/** A terminal with its bar. */
export function TerminalView({ wish, sessions, onSession, onOpen }: TerminalViewProps) {
  const [finding, setFinding] = useState(false);
  const findButton = useRef<HTMLButtonElement>(null);
  const { place, screen, state } = useTerminal({
    wish,
    onSession,
    onFind: () => setFinding(true),
    onLeave: () => findButton.current?.focus(),
  });
  const ending = endingOf(state);
  const closeFind = (): void => {
    setFinding(false);
    screen?.find('', 'next');
    screen?.focus();
  };
  return (
    <section className={styles['terminal']} aria-label="Terminal" data-state={state.kind}>
      <div className={styles['bar']}>
        {sessions}
        {wish.readOnly && <Status tone="warn">View only</Status>}
        <IconButton ref={findButton} label="Find (Ctrl+Shift+F)" size="small" onClick={() => setFinding(!finding)}>
          <Search size={15} />
        </IconButton>
      </div>
      <div className={styles['body']}>
        <div ref={place} className={styles['place']} />
        {finding && screen !== null ? <FindBar screen={screen} onClose={closeFind} /> : <StateNote state={state} />}
        {ending !== null && <EndedBar ending={ending} session={wish.session} onOpen={onOpen} />}
      </div>
    </section>
  );
}

function StateNote({ state }: { state: TerminalState }) {
  if (state.kind !== 'connecting' && state.kind !== 'reconnecting') return null;
  return (
    <div className={styles['state']} role="status">
      <Status tone="warn" live>
        {state.kind === 'connecting' ? 'Opening shell…' : 'Connection lost. Reconnecting…'}
      </Status>
    </div>
  );
}

const REMEDIES = { new: 'New terminal', again: 'Reconnect', takeBack: 'Take over' } as const;

interface EndedBarProps extends Pick<TerminalViewProps, 'onOpen'> {
  ending: Ending;
  session: string | null;
}

function EndedBar({ ending: { label, remedy }, session, onOpen }: EndedBarProps) {
  return (
    <div className={styles['ended']} role="status">
      <span>{label}</span>
      {remedy !== null && (
        <Button
          size="small"
          onClick={() => onOpen(remedy === 'new' ? {} : { session, takeover: remedy === 'takeBack' })}
        >
          {REMEDIES[remedy]}
        </Button>
      )}
    </div>
  );
}
