import { Check, Copy } from 'lucide-react';
import { useRef, type ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './copy-field.module.css';
import { useCopy } from './copy-field.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

export interface SecretDialogProps {
  title: string;
  description: ReactNode;
  /** The copied value, such as `token`. */
  noun: string;
  /** Null if the dialog is closed. */
  secret: string | null;
  onClose: () => void;
}

/** Shows a secret for the only time, so clicking outside does not close it. */
export function SecretDialog({ title, description, noun, secret, onClose }: SecretDialogProps) {
  const copyButton = useRef<HTMLButtonElement>(null);
  const { copied, copy } = useCopy(secret ?? '');
  return (
    <Dialog
      open={secret !== null}
      onClose={onClose}
      dismissible={false}
      initialFocus={copyButton}
      title={title}
      description={description}
    >
      <code className={styles['secret']}>{secret}</code>
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
        <Button
          ref={copyButton}
          variant="primary"
          icon={copied ? <Check size={15} /> : <Copy size={15} />}
          onClick={copy}
        >
          {copied ? 'Copied' : `Copy ${noun}`}
        </Button>
      </DialogActions>
      <span role="status" className="visually-hidden">
        {copied ? 'Copied' : ''}
      </span>
    </Dialog>
  );
}
