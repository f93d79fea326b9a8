import type { TemplateBuild } from '@svc/sdk';
import { Status } from '../../../ui/badge.tsx';

const TONES = { waiting: 'neutral', building: 'accent', ready: 'ok', error: 'danger' } as const;
const LABELS = { waiting: 'Waiting', building: 'Building', ready: 'Ready', error: 'Failed' } as const;

export function BuildStatus({ status }: Pick<TemplateBuild, 'status'>) {
  return (
    <Status tone={TONES[status]} live={status === 'building'}>
      {LABELS[status]}
    </Status>
  );
}
