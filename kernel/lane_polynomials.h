/* Polynomials of the functions in binary64 lanes; written by make_lane_polynomials.py, z = r * r. */
#ifndef MAXIK_LANE_POLYNOMIALS_H
#define MAXIK_LANE_POLYNOMIALS_H

/* sin(r) = r + r * z * P(z), |r| <= pi / 4: relative error below 2^-55.5 */
#define SIN_0 -0.16666666666666666
#define SIN_1 0.008333333333330948
#define SIN_2 -0.00019841269836758574
#define SIN_3 2.755731610255244e-06
#define SIN_4 -2.5051131845003624e-08
#define SIN_5 1.5918129294866608e-10

/* cos(r) = 1 - z / 2 + z * z * P(z), |r| <= pi / 4: relative error below 2^-49.7 */
#define COS_0 0.04166666666666468
#define COS_1 -0.0013888888887277342
#define COS_2 2.4801585210990515e-05
#define COS_3 -2.7556369695573007e-07
#define COS_4 2.0700600483433117e-09

/* asin(r) = r + r * z * P(z), |r| <= 1 / 2: relative error below 2^-50.0 */
#define ASIN_0 0.1666666666666695
#define ASIN_1 0.07499999999726302
#define ASIN_2 0.044642857578717755
#define ASIN_3 0.030381917485400308
#define ASIN_4 0.022373010066676288
#define ASIN_5 0.017337192543712077
#define ASIN_6 0.014140941807431192
#define ASIN_7 0.0102896411236249
#define ASIN_8 0.015445133336819308
#define ASIN_9 -0.006822043980671263
#define ASIN_10 0.027871289137110143

/* atan(r) = r + r * z * P(z), |r| <= sqrt(2) - 1: relative error below 2^-47.9 */
#define ATAN_0 -0.3333333333333093
#define ATAN_1 0.19999999997724888
#define ATAN_2 -0.14285713930378566
#define ATAN_3 0.11111089649211055
#define ATAN_4 -0.09090255952690657
#define ATAN_5 0.07681045202742948
#define ATAN_6 -0.0655090730756309
#define ATAN_7 0.05168834935919362
#define ATAN_8 -0.02723288406057488

#endif
