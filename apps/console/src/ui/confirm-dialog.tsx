import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { TextField } from './field.tsx';
import { FormError } from './form-error.tsx';
import { NameList } from './name-list.tsx';

export interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  /** The consequences, and whether they can be undone. */
  children: ReactNode;
  action: string;
  /** Names of the affected items, if several. */
  names?: readonly string[];
  /** For questions about cancelling something, where “Cancel” would be ambiguous. */
  cancelLabel?: string;
  pending: boolean;
  error: unknown;
  /** Text to type before confirming, for actions that destroy other people's work. */
  typeToConfirm?: string;
}

export function ConfirmDialog({ open, onClose, title, children, ...form }: ConfirmDialogProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <AlertDialog.Portal>
        {/* Over another dialog too: what is asked stands alone. */}
        <AlertDialog.Backdrop className={styles['backdrop']} forceRender />
        <AlertDialog.Popup className={styles['popup']} initialFocus={cancel}>
          <header className={styles['header']}>
            <AlertDialog.Title className={styles['title']}>{title}</AlertDialog.Title>
          </header>
          <AlertDialog.Description className={styles['description']}>{children}</AlertDialog.Description>
          <ConfirmForm cancelRef={cancel} onClose={onClose} {...form} />
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

type ConfirmFormProps = Omit<ConfirmDialogProps, 'open' | 'title' | 'children'> & {
  cancelRef: RefObject<HTMLButtonElement | null>;
};

function ConfirmForm(props: ConfirmFormProps) {
  const { cancelRef, onClose, onConfirm, action, cancelLabel = 'Cancel', pending, error } = props;
  const { typeToConfirm, names = [] } = props;
  const [typed, setTyped] = useState('');
  const allowed = typeToConfirm === undefined || typed.trim() === typeToConfirm;
  return (
    <form
      className={styles['body']}
      onSubmit={(event) => {
        event.preventDefault();
        if (allowed && !pending) onConfirm();
      }}
    >
      <NameList names={names} />
      {typeToConfirm !== undefined && (
        <TextField
          label={`Type “${typeToConfirm}” to confirm`}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      <FormError error={error} />
      <footer className={styles['actions']}>
        <Button ref={cancelRef} onClick={onClose}>
          {cancelLabel}
        </Button>
        <Button type="submit" variant="danger" pending={pending} disabled={!allowed}>
          {action}
        </Button>
      </footer>
    </form>
  );
}
