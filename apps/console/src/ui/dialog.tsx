import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, type ReactNode, type RefObject } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './dialog.module.css';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** False if closing loses something, such as a secret shown once: then only buttons close the dialog. */
  dismissible?: boolean;
  width?: 'normal' | 'wide';
  /** Opens on top of another dialog. */
  stacked?: boolean;
  /** Defaults to the first field or button of the content, rather than the Close button. */
  initialFocus?: RefObject<HTMLElement | null>;
}

const FOCUSABLE = 'input:not([type=hidden], [type=radio]), textarea, button:not(:disabled), a[href]';

export function Dialog(props: DialogProps) {
  const { open, onClose, title, description, children, dismissible = true, width = 'normal', initialFocus } = props;
  const { stacked = false } = props;
  const body = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root
      open={open}
      disablePointerDismissal={!dismissible}
      onOpenChange={(next, { reason }) => {
        if (!next && (dismissible || reason !== 'escape-key')) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles['backdrop']} forceRender={stacked} />
        <BaseDialog.Popup
          className={classNames(styles['popup'], width === 'wide' && styles['wide'])}
          initialFocus={() => initialFocus?.current ?? body.current?.querySelector<HTMLElement>(FOCUSABLE) ?? true}
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
          <div ref={body} className={styles['body']}>
            {children}
          </div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The button row at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <footer className={styles['actions']}>{children}</footer>;
}
