// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every condition of every type, by masks and by branches; minimum, maximum and selection.

use crate::args;
use crate::arithmetic::{doubles, singles};
use crate::gpu::{Gpu, Plain, Random};
use half::f16;

/// The properties of a type that the tests need.
trait Number: Plain + PartialOrd + std::fmt::Debug {
    const NAME: &str;
    fn values(seed: u64) -> Vec<Self>;
    fn is_nan(self) -> bool;
    fn is_zero(self) -> bool;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    /// Whether two results are equivalent.
    fn same(self, other: Self) -> bool;
}

macro_rules! integer {
    ($($ty:ident)*) => {$(
        impl Number for $ty {
            const NAME: &str = stringify!($ty);

            fn values(seed: u64) -> Vec<Self> {
                let mut random = Random(seed);
                let edges = [0, 1, <$ty>::MAX, <$ty>::MIN, <$ty>::MAX / 2, 5];
                (0..400).map(|index| match index % 3 {
                    0 => edges[random.bits() as usize % 6],
                    _ => random.bits() as $ty,
                }).collect()
            }

            fn is_nan(self) -> bool { false }
            fn is_zero(self) -> bool { self == 0 }
            fn least(self, other: Self) -> Self { self.min(other) }
            fn greatest(self, other: Self) -> Self { self.max(other) }
            fn same(self, other: Self) -> bool { self == other }
        }
    )*};
}

integer!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! float {
    ($ty:ident, $values:expr) => {
        impl Number for $ty {
            const NAME: &str = stringify!($ty);

            fn values(seed: u64) -> Vec<Self> {
                $values(seed)
            }

            fn is_nan(self) -> bool {
                self.is_nan()
            }

            fn is_zero(self) -> bool {
                self == $ty::from(0i8)
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn same(self, other: Self) -> bool {
                self == other || self.is_nan() && other.is_nan()
            }
        }
    };
}

// Signalling NaNs are excluded: libraries differ in the minimum with one.
float!(f32, |seed| singles(400, seed).into_iter().map(|x: f32| x + 0.0).collect());
float!(f64, |seed| doubles(400, seed).into_iter().map(|x: f64| x + 0.0).collect());
float!(f16, |seed| singles(400, seed).into_iter().map(f16::from_f32).collect());

fn conditions<T: Number>(a: T, b: T) -> u32 {
    [a < b, a <= b, a == b, a != b, a > b, a >= b, a.is_nan() || b.is_nan(), a.is_zero()]
        .iter()
        .enumerate()
        .fold(0, |bits, (place, &holds)| bits | u32::from(holds) << place)
}

fn check<T: Number>() {
    let gpu = Gpu::new();
    let (mut a, mut b, c) = (T::values(11), T::values(12), T::values(13));
    for index in 0..20 {
        b[index * 7] = a[index * 7];
    }
    let pairs: Vec<(T, T)> =
        (0..20).flat_map(|x| (0..20).map(move |y| (x, y))).map(|(x, y)| (a[x], b[y])).collect();
    a.extend(pairs.iter().map(|pair| pair.0));
    b.extend(pairs.iter().map(|pair| pair.1));
    let n = a.len();
    let c: Vec<T> = c.iter().copied().cycle().take(n).collect();

    let out = gpu.buffer(&vec![0u8; n]);
    let kernel = gpu.kernel("compare", &format!("compare_{}", T::NAME));
    gpu.run(&kernel, n, 100, args![gpu.buffer(&a), gpu.buffer(&b), out, n as i32]);
    for (index, got) in gpu.contents::<u8>(out).into_iter().enumerate() {
        assert_eq!(u32::from(got), conditions(a[index], b[index]), "{:?} and {:?}", a[index], b[index]);
    }

    let kernel = gpu.kernel("compare", &format!("branch_{}", T::NAME));
    let out = gpu.buffer(&[0u32]);
    for index in (0..n).step_by(23) {
        gpu.run(&kernel, 1, 1, args![a[index], b[index], out]);
        assert_eq!(
            gpu.contents::<u32>(out),
            [conditions(a[index], b[index])],
            "{:?} and {:?}",
            a[index],
            b[index]
        );
    }

    let out = gpu.buffer(&vec![a[0]; 4 * n]);
    let kernel = gpu.kernel("select", &format!("minmax_{}", T::NAME));
    gpu.run(&kernel, n, 64, args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, n as i32]);
    for (index, got) in gpu.contents::<T>(out).chunks_exact(4).enumerate() {
        let (a, b, c) = (a[index], b[index], c[index]);
        let median = a.greatest(b).least(c).greatest(a.least(b));
        let expected = [a.least(b), a.greatest(b), median, if a < b { a } else { c }];
        for (got, expected) in got.iter().zip(expected) {
            assert!(got.same(expected), "{a:?}, {b:?}, {c:?}: {got:?}, not {expected:?}");
        }
    }
}

#[test]
fn bytes() {
    check::<i8>();
    check::<u8>();
}

#[test]
fn shorts() {
    check::<i16>();
    check::<u16>();
}

#[test]
fn words() {
    check::<i32>();
    check::<u32>();
}

#[test]
fn longs() {
    check::<i64>();
    check::<u64>();
}

#[test]
fn floats() {
    check::<f16>();
    check::<f32>();
    check::<f64>();
}
