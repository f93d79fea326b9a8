import {
  cloneElement,
  createElement,
  lazy,
  Suspense,
  useEffect,
  useState,
  type ComponentType,
  type ReactElement,
} from 'react';

interface OpenProps {
  open: boolean;
}

/** A dialog whose script is loaded when it first opens. It stays mounted for its closing animation. */
export function lazyDialog<Props extends OpenProps>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  const Loaded = lazy(load);
  return function LazyDialog(props: Props) {
    const [wasOpened, setWasOpened] = useState(props.open);
    if (props.open && !wasOpened) setWasOpened(true);
    return wasOpened ? <Suspense fallback={null}>{createElement(Loaded, props)}</Suspense> : null;
  };
}

export interface PopupProps {
  trigger: ReactElement;
  /** True if it was requested before its script was loaded. */
  defaultOpen: boolean;
}

export interface LazyPopupProps {
  /** A button, rendered from the start. */
  trigger: ReactElement<{ onClick?: () => void }>;
  load: () => Promise<ComponentType<PopupProps>>;
}

/** A button whose menu or drawer is loaded after the page, or on the first click. */
export function LazyPopup({ trigger, load }: LazyPopupProps) {
  const [Popup, setPopup] = useState<ComponentType<PopupProps> | null>(null);
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    let gone = false;
    const start = (): void => {
      // If loading fails, the next page retries; the page's links work without it.
      load().then(
        (component) => gone || setPopup(() => component),
        () => undefined,
      );
    };
    const timer = window.setTimeout(start, pressed ? 0 : AFTER_FIRST_PAINT_MS);
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [load, pressed]);
  if (Popup === null) return cloneElement(trigger, { onClick: () => setPressed(true) });
  return <Popup trigger={trigger} defaultOpen={pressed} />;
}

const AFTER_FIRST_PAINT_MS = 300;
