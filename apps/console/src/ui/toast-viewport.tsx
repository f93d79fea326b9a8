import { Toast } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { IconButton } from './button.tsx';
import { describeError } from './describe-error.ts';
import styles from './toast.module.css';

export interface ToastRequest {
  title: string;
  /** Null for a success. */
  error: unknown;
}

export interface ToastViewportProps {
  /** Toasts not shown yet. */
  requests: readonly ToastRequest[];
  onShown: (requests: readonly ToastRequest[]) => void;
}

/** The corner where toasts appear; loaded with the first one. */
export function ToastViewport(props: ToastViewportProps) {
  return (
    <Toast.Provider limit={3}>
      <Toast.Portal>
        <Toast.Viewport className={styles['viewport']}>
          <ToastList {...props} />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList({ requests, onShown }: ToastViewportProps) {
  const { toasts, add } = Toast.useToastManager();
  useEffect(() => {
    if (requests.length === 0) return;
    for (const { title, error } of requests) {
      if (error === null) add({ title, type: 'done' });
      else add({ title, description: describeError(error), type: 'failed', priority: 'high', timeout: 10_000 });
    }
    onShown(requests);
  }, [requests, add, onShown]);
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
        {/* Hidden by default until the list is expanded, although it takes the focus. */}
        <Toast.Close aria-hidden={false} render={<IconButton label="Dismiss" size="small" />}>
          <X size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
