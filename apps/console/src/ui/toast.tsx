import { createContext, lazy, Suspense, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import type { ToastRequest } from './toast-viewport.tsx';

export interface Toasts {
  /** Reports a completed action. */
  done: (title: string) => void;
  /** Reports a failure that has no form to show it. */
  failed: (title: string, error: unknown) => void;
}

const ToastViewport = lazy(async () => ({ default: (await import('./toast-viewport.tsx')).ToastViewport }));
const ToastsContext = createContext<Toasts | null>(null);

export function useToasts(): Toasts {
  const toasts = useContext(ToastsContext);
  if (toasts === null) throw new Error('useToasts outside of ToastArea');
  return toasts;
}

export function ToastArea({ children }: { children: ReactNode }) {
  const [requests, setRequests] = useState<readonly ToastRequest[]>([]);
  const [isUsed, setIsUsed] = useState(false);
  const toasts = useMemo(() => {
    const add = (request: ToastRequest): void => {
      setIsUsed(true);
      setRequests((before) => [...before, request]);
    };
    return {
      done: (title: string) => add({ title, error: null }),
      failed: (title: string, error: unknown) => add({ title, error: error ?? new Error('') }),
    };
  }, []);
  const onShown = useCallback(
    (shown: readonly ToastRequest[]) => setRequests((before) => before.filter((request) => !shown.includes(request))),
    [],
  );
  return (
    <ToastsContext value={toasts}>
      {children}
      {isUsed && (
        <Suspense fallback={null}>
          <ToastViewport requests={requests} onShown={onShown} />
        </Suspense>
      )}
    </ToastsContext>
  );
}
