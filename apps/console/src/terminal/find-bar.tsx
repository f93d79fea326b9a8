import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import type { TerminalScreen } from './terminal-screen.ts';
import styles from './terminal.module.css';

/** Searches the terminal's output. */
export function FindBar({ screen, onClose }: { screen: TerminalScreen; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState(true);
  useEffect(() => input.current?.focus(), []);
  const find = (direction: 'next' | 'previous', wanted = text): void => setFound(screen.find(wanted, direction));
  return (
    <form
      role="search"
      className={styles['find']}
      onSubmit={(event) => {
        event.preventDefault();
        find('previous');
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onClose();
      }}
    >
      <TextField
        ref={input}
        label="Find in terminal"
        labelHidden
        placeholder={found ? 'Find' : 'Not found'}
        className={styles['findField'] ?? ''}
        value={text}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={!found || undefined}
        onChange={(event) => {
          setText(event.target.value);
          find('previous', event.target.value);
        }}
      />
      <IconButton label="Previous match" size="small" type="submit">
        <ChevronUp size={15} />
      </IconButton>
      <IconButton label="Next match" size="small" onClick={() => find('next')}>
        <ChevronDown size={15} />
      </IconButton>
      <IconButton label="Close search" size="small" onClick={onClose}>
        <X size={15} />
      </IconButton>
    </form>
  );
}
