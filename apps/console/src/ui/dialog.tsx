import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './dialog.module.css';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** False while closing would lose something, such as a secret that is shown once. */
  dismissible?: boolean;
  width?: 'normal' | 'wide';
  /** Opens over another dialog, which it covers. */
  stacked?: boolean;
  initialFocus?: RefObject<HTMLElement | null>;
}

export function Dialog(props: DialogProps) {
  const { open, onClose, title, description, children, dismissible = true, width = 'normal', initialFocus } = props;
  const { stacked = false } = props;
  return (
    <BaseDialog.Root
      open={open}
      disablePointerDismissal={!dismissible}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles['backdrop']} forceRender={stacked} />
        <BaseDialog.Popup
          className={classNames(styles['popup'], width === 'wide' && styles['wide'])}
          {...(initialFocus === undefined ? {} : { initialFocus })}
        >
          <header className={styles['header']}>
            <BaseDialog.Title className={styles['title']}>{title}</BaseDialog.Title>
            <BaseDialog.Close render={<IconButton label="Close" size="small" />}>
              <X size={16} />
            </BaseDialog.Close>
          </header>
          {description !== undefined && (
            <BaseDialog.Description className={styles['description']}>{description}</BaseDialog.Description>
          )}
          <div className={styles['body']}>{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The row of buttons at a dialog's end. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <footer className={styles['actions']}>{children}</footer>;
}
