import type { StoredObject } from '@svc/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link as LinkIcon } from 'lucide-react';
import { useState } from 'react';
import { publicUrlOf, createStoreClient, urlsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Select } from '../../../ui/select.tsx';
import styles from './browser.module.css';

const LIFETIMES = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
] as const;

type Lifetime = (typeof LIFETIMES)[number]['value'];

export interface ShareObjectProps {
  bucket: string;
  object: StoredObject;
}

/** A temporary link that works without signing in; for a public object, its permanent URL. */
export function ShareObject({ bucket, object }: ShareObjectProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const [lifetime, setLifetime] = useState<Lifetime>('86400');
  const urls = useQuery(urlsQuery(svc, workspace, bucket));
  const link = useMutation({
    mutationFn: () =>
      createStoreClient(svc, workspace)
        .objects(bucket)
        .presign(object.key, { method: 'GET', expires_in: Number(lifetime) }),
  });
  const lasting = object.public && urls.data !== undefined ? publicUrlOf(urls.data, object.key) : null;
  return (
    <section className={styles['dialogSection']}>
      <h3>Share</h3>
      {lasting !== null && <CopyField label="Public URL" value={lasting} />}
      <div className={styles['share']}>
        <Select label="Link expires after" options={LIFETIMES} value={lifetime} onChange={setLifetime} />
        <Button icon={<LinkIcon size={15} />} pending={link.isPending} onClick={() => link.mutate()}>
          Create link
        </Button>
      </div>
      <FormError error={link.error} />
      {link.data !== undefined && <CopyField label="Link" labelHidden value={link.data.url} />}
    </section>
  );
}
