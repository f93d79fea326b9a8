import { CircleAlert } from 'lucide-react';
import { describeError, faultRequestId } from './describe-error.ts';
import styles from './states.module.css';

/** A form's error, announced when it appears. Renders nothing without an error. */
export function FormError({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <div role="alert" className={styles['formError']}>
      <CircleAlert size={16} />
      <p>
        {describeError(error)}
        <RequestId error={error} />
      </p>
    </div>
  );
}

/** Shown only for faults of the platform; the id identifies the request in its log. */
export function RequestId({ error }: { error: unknown }) {
  const requestId = faultRequestId(error);
  if (requestId === null) return null;
  return (
    <span className={styles['requestId']}>
      Request ID <code>{requestId}</code>
    </span>
  );
}
