import { Dialog } from '../ui/dialog.tsx';
import { Keys } from '../ui/kbd.tsx';
import { commandKeys, GO_SHORTCUTS } from './shortcuts.ts';
import styles from './shortcuts.module.css';

type Shortcut = readonly [label: string, keys: readonly string[]];

const GENERAL: readonly Shortcut[] = [
  ['Show keyboard shortcuts', ['?']],
  ['Close dialog or menu', ['Esc']],
];

export function ShortcutsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const palette: Shortcut = ['Open command palette', commandKeys()];
  const going = GO_SHORTCUTS.map(({ label, key }) => [`Go to ${label}`, ['g', key]] as const);
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <dl className={styles['list']}>
        {[palette, ...GENERAL, ...going].map(([label, keys]) => (
          <div key={label} className={styles['row']}>
            <dt>{label}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
