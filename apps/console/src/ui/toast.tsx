import { Toast } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useCallback, type ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { describeError } from './form-error.tsx';
import styles from './toast.module.css';

export interface Toasts {
  /** Something that was asked for is done. */
  done: (title: string) => void;
  /** Something failed that has no form to say so. */
  failed: (title: string, error: unknown) => void;
}

export function useToasts(): Toasts {
  const { add } = Toast.useToastManager();
  const done = useCallback((title: string) => void add({ title, type: 'done' }), [add]);
  const failed = useCallback(
    (title: string, error: unknown) =>
      void add({ title, description: describeError(error), type: 'failed', priority: 'high', timeout: 10_000 }),
    [add],
  );
  return { done, failed };
}

export function ToastArea({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={styles['viewport']}>
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['toast']}>
      <Toast.Content className={styles['content']}>
        <span className={toast.type === 'failed' ? styles['failed'] : styles['done']}>
          {toast.type === 'failed' ? <CircleAlert size={16} /> : <CircleCheck size={16} />}
        </span>
        <div className={styles['text']}>
          <Toast.Title className={styles['title']} />
          <Toast.Description className={styles['description']} />
        </div>
        <Toast.Close render={<IconButton label="Dismiss" size="small" />}>
          <X size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
