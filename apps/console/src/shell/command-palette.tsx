import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useId, useRef, useState, type KeyboardEvent } from 'react';
import { useTheme } from '../session/theme.ts';
import { useSession, useSignOut, useWorkspace } from '../session/use-session.ts';
import { classNames } from '../ui/class-names.ts';
import { filterCommands, listCommands, type Command } from './commands.ts';
import styles from './command-palette.module.css';
import { useShell } from './shell-context.ts';

/** Searches all commands. The field keeps the focus; arrow keys move through the list (ARIA combobox pattern). */
export function CommandPalette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={styles['popup']} initialFocus={input}>
          <Dialog.Title className="visually-hidden">Command palette</Dialog.Title>
          <PaletteBody input={input} onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface PaletteBodyProps {
  input: React.RefObject<HTMLInputElement | null>;
  onClose: () => void;
}

/** Mounted each time the palette opens, so that it starts empty. */
function PaletteBody({ input, onClose }: PaletteBodyProps) {
  const id = useId();
  const [query, setQuery] = useState('');
  const [position, setPosition] = useState(0);
  const commands = filterCommands(useCommands(), query);
  const active = commands[Math.min(position, commands.length - 1)];

  const run = (command: Command): void => {
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined && commands.length > 0) {
      event.preventDefault();
      setPosition((position + move + commands.length) % commands.length);
    }
    if (event.key === 'Enter' && active !== undefined && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(active);
    }
  };
  return (
    <>
      <div className={styles['search']}>
        <Search size={16} />
        <input
          ref={input}
          className={styles['input']}
          role="combobox"
          aria-label="Search pages, workspaces and actions"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={active === undefined ? undefined : `${id}-${active.id}`}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search pages, workspaces and actions"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setPosition(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul id={`${id}-list`} role="listbox" aria-label="Results" className={styles['list']}>
        {commands.map((command, index) => (
          <PaletteRow
            key={command.id}
            id={`${id}-${command.id}`}
            command={command}
            active={command === active}
            onPoint={() => setPosition(index)}
            onRun={() => run(command)}
          />
        ))}
      </ul>
      <p role="status" className={commands.length === 0 ? styles['none'] : 'visually-hidden'}>
        {commands.length === 0 ? `No results for “${query}”` : `${commands.length} results`}
      </p>
    </>
  );
}

interface PaletteRowProps {
  id: string;
  command: Command;
  active: boolean;
  onPoint: () => void;
  onRun: () => void;
}

function PaletteRow({ id, command, active, onPoint, onRun }: PaletteRowProps) {
  return (
    <li
      id={id}
      ref={(row) => {
        if (active) row?.scrollIntoView({ block: 'nearest' });
      }}
      role="option"
      aria-selected={active}
      className={classNames(styles['row'], active && styles['active'])}
      onPointerMove={onPoint}
      onClick={onRun}
    >
      <span className="truncate">{command.label}</span>
      <span className={styles['kind']}>{command.kind}</span>
    </li>
  );
}

function useCommands(): Command[] {
  const { me, workspaces, teams } = useSession();
  const workspace = useWorkspace();
  const { create } = useShell();
  const { setTheme } = useTheme();
  const signOut = useSignOut();
  const navigate = useNavigate();
  return listCommands(
    { workspace, workspaces, teams, isOperator: me.user.operator },
    {
      go: (link) => void navigate(link),
      create,
      setTheme,
      signOut: () => signOut.mutate({ everywhere: false }),
    },
  );
}
